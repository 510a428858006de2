//! Making a program that shows a difference small.
