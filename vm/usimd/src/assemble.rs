//! The assembler: reads listings as the paper prints them.
//!
//! A line is `[label[:]] [instruction] [; comment]`. A name is a label if it is no instruction and no `=` follows. What
//! the keyboard lacks can be written otherwise: `v = [a]` for `v = ↓a`, `[a] = v` for `↑a = v`. `tid` is the thread's
//! number, `W` the number of threads. Directives: `.shared 0 1 1 …` appends to what shared memory holds at the beginning,
//! `.zeros n` appends n zeros, `.width n` says for how many threads the program is written. A program that may run past
//! its last line stops there.

use super::error::{Error, ErrorKind};
use super::lex::{Spanned, Token, tokenize};
use super::program::{BinaryOp, Data, Expr, Inst, Operand, Program, Var};
use super::threads::Threads;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Cells of shared memory a program may have.
const MAX_SHARED: usize = 1 << 24;

/// Expressions nest no deeper.
const MAX_NESTING: usize = 100;

/// The assembler gives up after so many errors.
const MAX_ERRORS: usize = 50;

const KEYWORDS: &[&str] =
    &["stop", "jmp", "bz", "jmp_mask", "sync", "everywhere", "end_everywhere", "enter", "leave", "shfl", "tid", "W"];

/// Reads a listing. All errors are reported, in the order of the text. What it gives is not checked for its shape.
pub(super) fn assemble(text: &str) -> Result<Program, Vec<Error>> {
    let mut parser = Parser::new(text);
    while parser.peek() != Token::End && parser.errors.len() < MAX_ERRORS {
        if parser.line().is_none() {
            parser.skip_line();
        }
    }
    parser.finish()
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Spanned>,
    at: usize,
    errors: Vec<Error>,
    program: Program,
    variables: HashMap<&'a str, Var>,
    label_spans: BTreeMap<String, Range<usize>>,
    /// Jumps, with the labels they name.
    jumps: Vec<(usize, Range<usize>)>,
    nesting: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        let program = Program {
            text: text.to_owned(),
            code: Vec::new(),
            spans: Vec::new(),
            labels: BTreeMap::new(),
            variables: Vec::new(),
            shared: Vec::new(),
            width: None,
        };
        Parser {
            text,
            tokens: tokenize(text),
            at: 0,
            errors: Vec::new(),
            program,
            variables: HashMap::new(),
            label_spans: BTreeMap::new(),
            jumps: Vec::new(),
            nesting: 0,
        }
    }

    fn line(&mut self) -> Option<()> {
        if self.begins_label() {
            self.label()?;
        }
        if self.peek() == Token::Directive {
            self.directive()?;
        } else if !matches!(self.peek(), Token::Newline | Token::End) {
            let start = self.here().start;
            let inst = self.instruction()?;
            self.program.code.push(inst);
            self.program.spans.push(start..self.previous_end());
        }
        if self.peek() != Token::End {
            self.expect(Token::Newline)?;
        }
        Some(())
    }

    fn begins_label(&self) -> bool {
        self.peek() == Token::Name
            && !KEYWORDS.contains(&self.word())
            && self.tokens[self.at + 1].token != Token::Equals
    }

    fn label(&mut self) -> Option<()> {
        let (name, span) = self.name("a label")?;
        let colon = self.accept(Token::Colon);
        if !colon && !self.begins_instruction() {
            let message = format!("there is no instruction `{name}`");
            return self.fail(Error::new(ErrorKind::Syntax, span, message).label("neither an instruction nor a label"));
        }
        if let Some(first) = self.label_spans.get(name) {
            let error = Error::new(ErrorKind::DuplicateLabel, span.clone(), format!("the label `{name}` stands twice"));
            self.errors.push(error.label("again here").place(first.clone(), "first here"));
        }
        self.label_spans.insert(name.to_owned(), span);
        self.program.labels.insert(name.to_owned(), self.program.code.len());
        Some(())
    }

    /// Returns whether what comes can be all there is on a line after a label.
    fn begins_instruction(&self) -> bool {
        match self.peek() {
            Token::Newline | Token::End | Token::Up | Token::OpenBracket => true,
            Token::Name => KEYWORDS.contains(&self.word()) || self.tokens[self.at + 1].token == Token::Equals,
            _ => false,
        }
    }

    fn directive(&mut self) -> Option<()> {
        let start = self.here().start;
        match self.advance() {
            ".shared" => {
                while !matches!(self.peek(), Token::Newline | Token::End) {
                    let cell = self.integer()?;
                    self.accept(Token::Comma);
                    self.program.shared.push(cell);
                }
            }
            ".zeros" => {
                let count = usize::try_from(self.integer()?).unwrap_or(usize::MAX);
                let len = self.program.shared.len().saturating_add(count);
                self.program.shared.resize(len.min(MAX_SHARED + 1), 0);
            }
            ".width" => {
                let width = usize::try_from(self.integer()?).ok().filter(|w| (1..=Threads::MAX).contains(w));
                if width.is_none() {
                    let span = start..self.previous_end();
                    return self.fail(Error::new(ErrorKind::Width, span, "a warp has 1 to 64 threads"));
                }
                self.program.width = width;
            }
            other => {
                let message = format!("there is no directive `{other}`");
                let error = Error::new(ErrorKind::Syntax, start..self.previous_end(), message);
                return self.fail(error.note("directives are .shared, .zeros and .width"));
            }
        }
        if self.program.shared.len() > MAX_SHARED {
            let span = start..self.previous_end();
            return self.fail(Error::new(ErrorKind::Address, span, "shared memory has at most 2²⁴ cells"));
        }
        Some(())
    }

    fn instruction(&mut self) -> Option<Inst> {
        if self.peek() != Token::Name {
            return self.store();
        }
        match self.word() {
            "stop" => self.plain(Inst::Stop),
            "sync" => self.plain(Inst::Sync),
            "everywhere" => self.plain(Inst::Everywhere),
            "end_everywhere" => self.plain(Inst::EndEverywhere),
            "leave" => self.plain(Inst::Leave),
            "enter" => {
                self.advance();
                Some(Inst::Enter(self.name("the name of a function")?.0.to_owned()))
            }
            "jmp" => {
                self.advance();
                self.target()?;
                Some(Inst::Jmp(0))
            }
            word @ ("bz" | "jmp_mask") => {
                self.advance();
                let operand = self.operand()?;
                self.expect(Token::Comma)?;
                self.target()?;
                Some(if word == "bz" { Inst::Bz(operand, 0) } else { Inst::JmpMask(operand, 0) })
            }
            "shfl" => {
                let (from, lane) = self.shuffle()?;
                Some(Inst::Data(Data::Shuffle { to: from, from, lane }))
            }
            _ => self.assignment(),
        }
    }

    fn plain(&mut self, inst: Inst) -> Option<Inst> {
        self.advance();
        Some(inst)
    }

    /// The label of a jump; which instruction it is is known at the end.
    fn target(&mut self) -> Option<()> {
        let (_, span) = self.name("a label")?;
        self.jumps.push((self.program.code.len(), span));
        Some(())
    }

    /// `↑a = v` or `[a] = v`.
    fn store(&mut self) -> Option<Inst> {
        let brackets = self.accept(Token::OpenBracket);
        if !brackets && !self.accept(Token::Up) {
            return self.expected("an instruction");
        }
        let address = self.operand()?;
        if brackets {
            self.expect(Token::CloseBracket)?;
        }
        self.expect(Token::Equals)?;
        let value = self.operand()?;
        Some(Inst::Data(Data::Store { address, value }))
    }

    fn assignment(&mut self) -> Option<Inst> {
        let to = self.variable()?;
        self.expect(Token::Equals)?;
        let data = match (self.peek(), self.word()) {
            (Token::Down, _) => {
                self.advance();
                Data::Load(to, self.operand()?)
            }
            (Token::OpenBracket, _) => {
                self.advance();
                let address = self.operand()?;
                self.expect(Token::CloseBracket)?;
                Data::Load(to, address)
            }
            (Token::Name, "shfl") => {
                let (from, lane) = self.shuffle()?;
                Data::Shuffle { to, from, lane }
            }
            _ => match self.expression(0)? {
                Expr::Operand(Operand::Constant(c)) => Data::Constant(to, c),
                Expr::Operand(o) => Data::Copy(to, o),
                binary => Data::Binary(to, binary),
            },
        };
        Some(Inst::Data(data))
    }

    fn shuffle(&mut self) -> Option<(Var, Operand)> {
        self.advance();
        self.expect(Token::Open)?;
        let from = self.variable()?;
        self.expect(Token::Comma)?;
        let lane = self.operand()?;
        self.expect(Token::Close)?;
        Some((from, lane))
    }

    /// An expression of operators that bind tighter than `outer`; they associate to the left.
    fn expression(&mut self, outer: u8) -> Option<Expr> {
        let mut left = self.primary()?;
        while let Some(op) = self.operator().filter(|op| op.binding() > outer) {
            self.advance();
            let right = self.expression(op.binding())?;
            left = Expr::Binary(op, Box::new(left), Box::new(right));
        }
        Some(left)
    }

    fn primary(&mut self) -> Option<Expr> {
        if !self.accept(Token::Open) {
            return Some(Expr::Operand(self.operand()?));
        }
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return self.fail(Error::new(ErrorKind::Syntax, self.span(), "parentheses nest too deep"));
        }
        let inner = self.expression(0)?;
        self.expect(Token::Close)?;
        self.nesting -= 1;
        Some(inner)
    }

    fn operator(&self) -> Option<BinaryOp> {
        let is_operator = self.peek() == Token::Operator;
        BinaryOp::ALL.iter().copied().find(|op| is_operator && op.text() == self.word())
    }

    fn operand(&mut self) -> Option<Operand> {
        match (self.peek(), self.word()) {
            (Token::Number, _) | (Token::Operator, "-") => Some(Operand::Constant(self.integer()?)),
            (Token::Name, "tid") => {
                self.advance();
                Some(Operand::Tid)
            }
            (Token::Name, "W") => {
                self.advance();
                Some(Operand::Width)
            }
            (Token::Name, _) => Some(Operand::Var(self.variable()?)),
            _ => self.expected("a variable or a number"),
        }
    }

    fn variable(&mut self) -> Option<Var> {
        let (name, _) = self.name("a variable")?;
        let next = self.variables.len();
        let var = *self.variables.entry(name).or_insert(next);
        if var == next {
            self.program.variables.push(name.to_owned());
        }
        Some(var)
    }

    fn integer(&mut self) -> Option<i64> {
        let start = self.here().start;
        let negative = self.peek() == Token::Operator && self.word() == "-";
        if negative {
            self.advance();
        }
        if self.peek() != Token::Number {
            return self.expected("a number");
        }
        let digits = self.advance();
        let sign = if negative { "-" } else { "" };
        match format!("{sign}{digits}").parse() {
            Ok(value) => Some(value),
            Err(_) => {
                let span = start..self.previous_end();
                self.fail(Error::new(ErrorKind::Syntax, span, "the number does not fit into 64 bits"))
            }
        }
    }

    fn name(&mut self, what: &str) -> Option<(&'a str, Range<usize>)> {
        let span = self.span();
        let word = self.word();
        if self.peek() != Token::Name {
            return self.expected(what);
        }
        if KEYWORDS.contains(&word) {
            let error = Error::new(ErrorKind::Syntax, span, format!("expected {what}, found `{word}`"));
            return self.fail(error.label(format!("`{word}` has a meaning of its own")));
        }
        self.advance();
        Some((word, span))
    }

    fn finish(mut self) -> Result<Program, Vec<Error>> {
        self.resolve();
        if !self.errors.is_empty() {
            self.errors.sort_by_key(|e| e.span.start);
            return Err(self.errors);
        }
        let code = &mut self.program.code;
        let labelled = self.program.labels.values().any(|&pc| pc == code.len());
        if labelled || !matches!(code.last(), Some(Inst::Stop | Inst::Jmp(_))) {
            code.push(Inst::Stop);
            self.program.spans.push(self.text.len()..self.text.len());
        }
        Ok(self.program)
    }

    /// Gives jumps the instructions that their labels stand before.
    fn resolve(&mut self) {
        for (pc, span) in std::mem::take(&mut self.jumps) {
            let name = &self.text[span.clone()];
            let Some(&to) = self.program.labels.get(name) else {
                self.unknown_label(name, span);
                continue;
            };
            if let Some(Inst::Jmp(l) | Inst::Bz(_, l) | Inst::JmpMask(_, l)) = self.program.code.get_mut(pc) {
                *l = to;
            }
        }
    }

    fn unknown_label(&mut self, name: &str, span: Range<usize>) {
        let error = Error::new(ErrorKind::UnknownLabel, span, format!("there is no label `{name}`"));
        let same = self.label_spans.iter().find(|(label, _)| label.eq_ignore_ascii_case(name));
        let error = match same {
            Some((label, at)) => error.place(at.clone(), format!("did you mean `{label}`?")),
            None if self.label_spans.is_empty() => error.note("the program has no labels"),
            None => {
                let labels: Vec<&str> = self.label_spans.keys().map(String::as_str).collect();
                error.note(format!("the labels are {}", labels.join(", ")))
            }
        };
        self.errors.push(error.label("no instruction has this label"));
    }

    fn here(&self) -> Spanned {
        self.tokens[self.at]
    }

    fn peek(&self) -> Token {
        self.here().token
    }

    fn span(&self) -> Range<usize> {
        self.here().start..self.here().end
    }

    fn word(&self) -> &'a str {
        &self.text[self.span()]
    }

    fn previous_end(&self) -> usize {
        self.at.checked_sub(1).map_or(0, |i| self.tokens[i].end)
    }

    fn advance(&mut self) -> &'a str {
        let word = self.word();
        if self.peek() != Token::End {
            self.at += 1;
        }
        word
    }

    fn accept(&mut self, token: Token) -> bool {
        let is = self.peek() == token;
        if is {
            self.advance();
        }
        is
    }

    fn expect(&mut self, token: Token) -> Option<()> {
        if self.accept(token) { Some(()) } else { self.expected(&token.to_string()) }
    }

    fn expected<T>(&mut self, what: &str) -> Option<T> {
        let found = match self.peek() {
            Token::Newline | Token::End => self.peek().to_string(),
            _ => format!("`{}`", self.word()),
        };
        let message = format!("expected {what}, found {found}");
        self.fail(Error::new(ErrorKind::Syntax, self.span(), message).label(format!("expected {what}")))
    }

    fn fail<T>(&mut self, error: Error) -> Option<T> {
        self.errors.push(error);
        None
    }

    fn skip_line(&mut self) {
        self.nesting = 0;
        while !matches!(self.peek(), Token::Newline | Token::End) {
            self.at += 1;
        }
        self.accept(Token::Newline);
    }
}
