// The colours of the source.

const KEYWORDS = new Set(
  ("assert break case cbreak ccontinue cdo cfor cif continue crev creturn cwhile default delete do else everywhere export extern for " +
    "foreach foreach_active foreach_tiled foreach_unique goto if in inline invoke_sycl launch new noinline print return soa static " +
    "struct switch sync task template typedef typename uniform unmasked varying while const enum operator sizeof unsigned signed noescape")
    .split(" "));
const TYPES = new Set(
  ("void bool int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 float float16 double size_t ptrdiff_t intptr_t uintptr_t " +
    "programIndex programCount taskIndex taskCount taskIndex0 taskIndex1 taskIndex2 taskCount0 taskCount1 taskCount2 threadIndex threadCount")
    .split(" "));
const LITERALS = new Set(["true", "false", "NULL"]);
const TOKEN =
  /(\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|("(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)|(^[ \t]*#[^\n]*)|([A-Za-z_]\w*)|(\.?\d(?:[eEpP][+-]|[\w.](?!\.\.))*)/gm;

/** The coloured parts of a text: from, to (exclusive), class. */
function tokens(text) {
  const found = [];
  for (const match of text.matchAll(TOKEN)) {
    const [all, comment, string, directive, name, number] = match;
    const kind = comment ? "comment" : string ? "string" : directive ? "directive" : number ? "literal"
      : KEYWORDS.has(name) ? "keyword" : TYPES.has(name) ? "type" : LITERALS.has(name) ? "literal" : null;
    if (kind) found.push([match.index, match.index + all.length, kind]);
  }
  return found;
}
