// Questions to the server.

const data = JSON.parse(element("data").textContent);
const token = data.token ?? new URLSearchParams(location.search).get("token") ?? "";
// A page that was opened with a ticket can be loaded again.
if (data.token) history.replaceState(null, "", `/?token=${data.token}`);

/** Asks; the error is what the server says is wrong. */
async function ask(path, question) {
  let response;
  try {
    response = await fetch(`/api/${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Spmdvm-Token": token },
      body: JSON.stringify(question),
    });
  } catch {
    throw new Error("the playground does not answer: is `spmdvm play` still running?");
  }
  const text = await response.text();
  let answer = {};
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Error(text.trim() || `the playground answers ${response.status}`);
  }
  if (!response.ok) throw new Error(answer.error ?? `the playground answers ${response.status}`);
  return answer;
}
