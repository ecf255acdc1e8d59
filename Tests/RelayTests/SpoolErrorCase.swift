import Foundation
import LiveRing
import Testing

@testable import Support

/// A spool that no process can use, and the error for the operator.
struct SpoolErrorCase: Sendable, CustomTestStringConvertible {
    let situation: String
    let error: RelayError
    /// Texts that the error's line contains.
    let expectedTexts: [String]

    private init(_ situation: String, error: RingError, says expectedTexts: [String]) {
        self.init(situation, error: RelayError(error), says: expectedTexts)
    }

    private init(_ situation: String, error: RelayError, says expectedTexts: [String]) {
        (self.situation, self.error, self.expectedTexts) = (situation, error, expectedTexts)
    }

    var testDescription: String { situation }

    /// The error of `SpoolLocation`, which is found before there is a ring.
    static let unwritable = SpoolErrorCase(
        "It may not be written.",
        error: RelayError(
            .cannotSpool, "/spool cannot be written", advice: "Give another --spool, or correct its permissions"),
        says: ["/spool", "permissions"])

    static let all: [SpoolErrorCase] = [
        SpoolErrorCase(
            "Another process publishes into it.", error: .spoolInUse(directory: "/spool"),
            says: ["/spool", "running", "another --spool"]),
        unwritable,
        SpoolErrorCase(
            "Its lock is another user's.", error: .system(.open, path: "/spool/ring.lock", code: EACCES),
            says: ["/spool/ring.lock", "permission denied", "correct the permissions"]),
        SpoolErrorCase(
            "There is a file of that name.", error: .system(.createDirectory, path: "/spool", code: EEXIST),
            says: ["directory /spool", "file exists", "a directory as --spool"]),
        SpoolErrorCase(
            "Its disk has no room for one directory more.",
            error: .system(.createDirectory, path: "/spool", code: ENOSPC),
            says: ["directory /spool", "no space left", "free space"]),
        SpoolErrorCase(
            "Its file system turned read-only.", error: .system(.open, path: "/spool/ring.lock", code: EROFS),
            says: ["ead-only file system", "another --spool", "writable"]),
        SpoolErrorCase(
            "Its journal was written by another version.",
            error: .unknownJournalFormat(path: "/spool/ring.m3u8", found: "1"),
            says: ["/spool/ring.m3u8", "another version", "“1”", "move the old one away", "not changed"]),
        SpoolErrorCase(
            "Its `ring.m3u8` was written by another program.",
            error: .unknownJournalFormat(path: "/spool/ring.m3u8", found: nil),
            says: ["no journal of liverelay", "not changed"]),
        SpoolErrorCase(
            "Its files have numbers that its damaged journal cannot have assigned.",
            error: .damagedJournal(path: "/spool/ring.m3u8", lost: 100_000),
            says: ["100000 segments", "not changed"]),
    ]
}
