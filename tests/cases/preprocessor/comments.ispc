// Comments of both kinds, and // inside a text.
//~ run: f()
//~   print: a // b /* c */
/* a comment
   over lines */
export void f() { /* here */ print("a // b /* c */\n"); // there
}
