import Foundation
import LiveRing
import Testing

@testable import liverelay

/// A spool that no process begins on, and what the operator is told.
struct SpoolErrorCase: Sendable, CustomTestStringConvertible {
    /// What is so with the directory.
    let what: String
    let trouble: RelayError
    /// What the line has to say.
    let says: [String]

    private init(what: String, error: RingError, says: [String]) {
        self.init(what: what, trouble: RelayError(error), says: says)
    }

    private init(what: String, trouble: RelayError, says: [String]) {
        (self.what, self.trouble, self.says) = (what, trouble, says)
    }

    var testDescription: String { what }

    /// As `SpoolLocation` finds it, before there is a ring.
    static let unwritable = SpoolErrorCase(
        what: "It may not be written.",
        trouble: RelayError(
            .cannotSpool, "/spool cannot be written", advice: "Give another --spool, or correct its permissions"),
        says: ["/spool", "permissions"])

    static let all: [SpoolErrorCase] = [
        SpoolErrorCase(
            what: "Another process publishes into it.", error: .spoolInUse(directory: "/spool"),
            says: ["/spool", "running", "another --spool"]),
        unwritable,
        SpoolErrorCase(
            what: "Its lock is another user's.", error: .system(.open, path: "/spool/ring.lock", code: EACCES),
            says: ["/spool/ring.lock", "permission denied", "correct the permissions"]),
        SpoolErrorCase(
            what: "There is a file of that name.", error: .system(.createDirectory, path: "/spool", code: EEXIST),
            says: ["directory /spool", "file exists", "a directory as --spool"]),
        SpoolErrorCase(
            what: "Its disk has no room for one directory more.",
            error: .system(.createDirectory, path: "/spool", code: ENOSPC),
            says: ["directory /spool", "no space left", "free space"]),
        SpoolErrorCase(
            what: "Its file system turned read-only.", error: .system(.open, path: "/spool/ring.lock", code: EROFS),
            says: ["ead-only file system", "another --spool", "writable"]),
        SpoolErrorCase(
            what: "Its journal was written by another version.",
            error: .unknownJournalFormat(path: "/spool/ring.m3u8", found: "1"),
            says: ["/spool/ring.m3u8", "another version", "“1”", "move the old one away", "not changed"]),
        SpoolErrorCase(
            what: "Its `ring.m3u8` is somebody else's.",
            error: .unknownJournalFormat(path: "/spool/ring.m3u8", found: nil),
            says: ["no journal of liverelay", "not changed"]),
        SpoolErrorCase(
            what: "Its files have numbers that its damaged journal cannot have given.",
            error: .damagedJournal(path: "/spool/ring.m3u8", lost: 100_000),
            says: ["100000 segments", "not changed"]),
    ]
}
