//! Generated documents are up to date. `UPDATE_DOCS=1` writes them anew.

use spmdvm_vm::isa::docs::isa_markdown;

#[test]
fn the_instruction_set_document_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/isa.md");
    let wanted = isa_markdown();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &wanted).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == wanted, "docs/isa.md is stale: run the test again with UPDATE_DOCS=1 to write it anew");
}
