//! Running a test case on two back ends, and finding the first difference.
