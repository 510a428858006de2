//! What can be edited, what becomes of it, and what is in scope.

use super::*;
use spmdvm::Module;

fn with_tree<R>(text: &str, look: impl FnOnce(&Tree<'_>) -> R) -> R {
    let arena = Bump::new();
    let tree = Tree::parse(&arena, "t.ispc", text, &Options::default()).unwrap();
    look(&tree)
}

/// The first node with this text.
fn find(tree: &Tree<'_>, text: &str) -> NodeId {
    tree.nodes().find(|&id| tree.source(id) == Some(text)).unwrap_or_else(|| panic!("no node is `{text}`"))
}

fn deleted(text: &str, what: &str) -> String {
    with_tree(text, |tree| {
        let mut edits = Edits::new();
        edits.add(tree.delete(find(tree, what)).unwrap()).unwrap();
        edits.apply(text)
    })
}

fn expressions(text: &str) -> Vec<String> {
    with_tree(text, |tree| tree.expressions().filter_map(|id| tree.source(id)).map(str::to_owned).collect())
}

#[test]
fn ranges_have_the_parentheses_of_operands() {
    assert_eq!(
        expressions("int f(int a, int b) { return ((a + b)) * (b - (a)) ; }"),
        ["((a + b)) * (b - (a))", "a + b", "a", "b", "b - (a)", "b", "a"]
    );
    assert_eq!(
        expressions("int f(int *p, int n) { return -(p)[(n)] + f((p), (n)); }"),
        ["-(p)[(n)] + f((p), (n))", "-(p)[(n)]", "(p)[(n)]", "p", "n", "f((p), (n))", "f", "p", "n"]
    );
}

#[test]
fn nothing_of_a_macro_is_edited() {
    let text = "#define SUM(x) x + x\n#define ONE 1\nint f(int a) { return SUM(a) * (a + ONE) + (ONE); }";
    // The sum with its last operand from a macro, and all that begins with one, have no range; the argument, which is
    // there twice, has none either.
    assert_eq!(expressions(text), ["a"]);
    with_tree(text, |tree| {
        let refused: Vec<NodeId> = tree.expressions().filter(|&id| tree.range(id).is_none()).collect();
        assert!(refused.len() > 5);
        assert!(refused.into_iter().all(|id| tree.replace(id, "0").is_none() && tree.delete(id).is_none()));
        // The statement as a whole is the program's own.
        assert!(tree.statements().any(|id| tree.source(id) == Some("return SUM(a) * (a + ONE) + (ONE);")));
    });
    assert_eq!(expressions("#define ID(x) x\nint f(int a) { return ID(a) + 2; }"), ["a", "2"]);
    assert_eq!(expressions("#define TWICE(x) x x\nint f(int a) { TWICE(a++;) return 1; }"), ["1"]);
}

#[test]
fn nothing_of_an_included_file_is_edited() {
    let headers = vec![("h.isph".to_owned(), "int g(int a) { return a; }\n".to_owned())];
    let options = Options { headers, ..Options::default() };
    let arena = Bump::new();
    let text = "#include \"h.isph\"\nint f(int a) { return g(a); }\n";
    let tree = Tree::parse(&arena, "t.ispc", text, &options).unwrap();
    let ranges: Vec<_> = tree.functions().map(|id| tree.source(id)).collect();
    assert_eq!(ranges, [None, Some("int f(int a) { return g(a); }")]);
}

#[test]
fn conditionals_are_not_torn_apart() {
    let text = "int f(int a) {\n  {\n#if 1\n    a++;\n  }\n#else\n  }\n#endif\n  {\n#if 1\n    a--;\n#endif\n  }\n  return a;\n}\n";
    with_tree(text, |tree| {
        let blocks: Vec<bool> = tree
            .statements()
            .filter(|&id| matches!(tree.as_stmt(id).unwrap().kind, StmtKind::Block(_)))
            .map(|id| tree.range(id).is_some())
            .collect();
        assert_eq!(blocks, [false, true]);
    });
    with_tree("int f(int a) {\n#define ONE 1\n  return ONE;\n}\nint g() { return ONE; }\n", |tree| {
        let ranges: Vec<bool> = tree.functions().map(|id| tree.range(id).is_some()).collect();
        assert_eq!(ranges, [false, true]);
    });
}

#[test]
fn deletion_takes_lines_commas_and_semicolons_along() {
    let text = "struct S { int a; float b; };\nint f(int a, int b) {\n    int x = a, y = b;\n    if (a)\n        x = 1;\n    else y = 2;\n    return x + y;\n}\n";
    assert!(deleted(text, "struct S { int a; float b; }").starts_with("int f"));
    assert!(deleted(text, "int a").starts_with("struct S { float b; };"));
    assert!(deleted(text, "float b").starts_with("struct S { int a; };"));
    assert!(deleted(text, "int b").contains("f(int a) {"));
    assert!(deleted(text, "int x = a").contains("    int y = b;\n"));
    assert!(deleted(text, "y = b").contains("    int x = a;\n"));
    assert!(deleted(text, "int x = a, y = b;").contains("{\n    if"));
    assert!(deleted(text, "x = 1;").contains("if (a)\n        {}\n    else"));
    assert!(deleted(text, "y = 2;").contains("x = 1;\n    return"));
    assert!(deleted(text, "return x + y;").ends_with("else y = 2;\n}\n"));
}

#[test]
fn a_first_variable_goes_without_its_type() {
    assert!(deleted("void f() { uniform int x, y = 3; }", "uniform int x").contains("{ uniform int y = 3; }"));
    assert!(deleted("int g(int, int);\nvoid f() { g(1, 2); g(3, 4); }", "2").contains("g(1); g(3, 4)"));
    assert!(deleted("void f() { for (int i = 0; i < 3; ++i) { } }", "int i = 0;").contains("for (; i < 3; ++i)"));
    assert!(deleted("void f() { int i = 5; }", "5").contains("int i;"));
}

#[test]
fn insertions_stand_on_lines_of_their_own() {
    let text = "void f() {\n    int i = 5;\n    i++;\n}\n";
    with_tree(text, |tree| {
        let mut edits = Edits::new();
        edits.add(tree.insert_after(find(tree, "int i = 5;"), "i--;").unwrap()).unwrap();
        edits.add(tree.insert_before(find(tree, "int i = 5;"), "print(\"a\");").unwrap()).unwrap();
        assert_eq!(edits.apply(text), "void f() {\n    print(\"a\");\n    int i = 5;\n    i--;\n    i++;\n}\n");
    });
}

#[test]
fn positions_and_what_is_visible() {
    let text = "uniform int g; void f(int a) { int b; foreach (i = 0 ... 9) { while (a) { float a = 1; a += 2; } } int c; }\nint later;";
    with_tree(text, |tree| {
        let at = find(tree, "a += 2;");
        let position = tree.position(at);
        assert_eq!((position.loop_depth, position.index), (2, 1));
        assert_eq!(position.function, tree.functions().next());
        let names: Vec<&str> = tree.visible_at(at).iter().map(|visible| visible.name.as_str()).collect();
        assert_eq!(names, ["a", "i", "b", "g"]);
        let visible = tree.visible_at(at);
        assert_eq!(visible[0].basic(), Some(spmdvm::frontend::ast::Basic::Float));
        assert!(visible[3].is_global && visible[3].is_assignable() && !visible[1].is_assignable());
        let names: Vec<&str> =
            tree.visible_at(find(tree, "int c;")).iter().map(|visible| visible.name.as_str()).collect();
        assert_eq!(names, ["b", "a", "g"]);
    });
}

/// A program with every kind of thing that has a node.
const EVERYTHING: &str = include_str!("everything.ispc");

/// Random edits of a program: the text that they give is parsed or rejected, and sometimes compiles; nothing panics.
#[test]
fn random_edits_give_programs_or_are_rejected() {
    let (mut parsed, mut compiled, mut state) = (0, 0, 0x9e37_79b9_7f4a_7c15u64);
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    let options = Options::default();
    for _ in 0..150 {
        let mut text = EVERYTHING.to_owned();
        for _ in 0..4 {
            let arena = Bump::new();
            let Ok(tree) = Tree::parse(&arena, "t.ispc", &text, &options) else { break };
            parsed += 1;
            let ids: Vec<NodeId> = tree.nodes().collect();
            let mut edits = Edits::new();
            for _ in 0..1 + draw(3) {
                let (id, other) = (ids[draw(ids.len())], ids[draw(ids.len())]);
                let edit = match draw(4) {
                    0 => tree.replace(id, tree.source(other).unwrap_or("0")),
                    1 => tree.insert_after(id, tree.source(other).unwrap_or(";")),
                    2 => tree.insert_before(id, "int fresh;"),
                    _ => tree.delete(id),
                };
                // An edit that overlaps with the others is refused, and none of it done.
                let before = edits.clone();
                if edit.is_some_and(|edit| edits.add(edit).is_err()) {
                    assert_eq!(edits, before);
                }
            }
            text = edits.apply(&text);
        }
        compiled += usize::from(Module::compile("t.ispc", &text, &options).is_ok());
    }
    assert!(parsed > 200 && compiled > 5, "{parsed} parsed, {compiled} compiled");
}

#[test]
fn every_node_lies_in_the_one_that_holds_it() {
    with_tree(EVERYTHING, |tree| {
        for id in tree.nodes() {
            let (Some(own), Some(outer)) = (tree.range(id), tree.parent(id).and_then(|parent| tree.range(parent)))
            else {
                continue;
            };
            // Types of all variables of a declaration are written in front of the first.
            let is_apart =
                matches!(tree.node(id), Node::Type(_)) || tree.within(id).count() > 1 && own.start < outer.start;
            assert!(is_apart || outer.start <= own.start && own.end <= outer.end, "{:?}", tree.source(id));
        }
    });
}

#[test]
fn syntax_errors_are_told() {
    let arena = Bump::new();
    let error = Tree::parse(&arena, "t.ispc", "int f( { }", &Options::default()).map(|_| ()).unwrap_err();
    assert!(!error.0.is_empty() && !error.to_string().is_empty());
}
