import Testing

/// What each rule says of a made-up file: proof that it can fail, and that it does not fail for nothing.
private let rows: [(when: String, path: String, text: String, finds: [String])] = [
    (
        "an arrow as drawn", "Sources/Tracker/A.swift", "package import Playlist",
        []
    ),
    (
        "an arrow backwards", "Sources/Playlist/A.swift", "// first line\nimport Tracker",
        ["Sources/Playlist/A.swift:2: imports Tracker, which only Capture/, Channel/, liverelay/ may"]
    ),
    (
        "a part of a module that is downstream", "Sources/Splice/A.swift", "import struct LiveRing.RingEntry",
        ["Sources/Splice/A.swift:1: imports LiveRing, which only HTTPSyntax/, Channel/, liverelay/ may"]
    ),
    (
        "the channel's pipeline that logs", "Sources/Channel/A.swift", "import Logging",
        ["Sources/Channel/A.swift:1: imports Logging, which only liverelay/ may"]
    ),
    (
        "the channel's pipeline that reads the wall clock", "Sources/Channel/A.swift", "let now = Date()",
        ["Sources/Channel/A.swift:1: Date(): what is published depends only on what the upstream said"]
    ),
    (
        "a C library outside of its folder", "Sources/Tracker/A.swift", "@preconcurrency import CCurl",
        ["Sources/Tracker/A.swift:1: imports CCurl, which only Tracker/Fetch/Curl/ may"]
    ),
    (
        "a C library inside of its folder", "Sources/Transcode/LibAV/A.swift", "import CLibAV",
        []
    ),
    (
        "a library nobody has spoken of", "Sources/liverelay/A.swift", "import Hummingbird",
        ["Sources/liverelay/A.swift:1: imports Hummingbird, which no row of ImportRule allows"]
    ),
    (
        "Foundation in a pure module", "Sources/Playlist/A.swift", "import Foundation",
        ["Sources/Playlist/A.swift:1: imports Foundation, which only Capture/, liverelay/ may"]
    ),
    (
        "a test imports what it likes", "Tests/PlaylistTests/A.swift", "import Foundation\nlet a = try! b()",
        []
    ),
    (
        "try that cannot fail", "Sources/Splice/A.swift", "let a =\n    try! b()",
        ["Sources/Splice/A.swift:2: try!: throw a typed error"]
    ),
    (
        "try that may fail", "Sources/Splice/A.swift", "let a = try? b(); let c = try d(); while try !e() {}",
        []
    ),
    (
        "a forced cast in an interpolation", "Sources/Splice/A.swift", #"let a = "b \(c as! D) e""#,
        ["Sources/Splice/A.swift:1: as!: throw a typed error"]
    ),
    (
        "words about words", "Sources/Splice/A.swift",
        "/// Never `try!`.\n/* fatalError() /* public */ public */ let a = \"as! public\"; let b = #\"\"\"\npublic\n\"\"\"#",
        []
    ),
    (
        "code after a literal with a quotation mark", "Sources/Splice/A.swift", #"let a = "\"" + "\\"; fatalError()"#,
        ["Sources/Splice/A.swift:1: fatalError: throw a typed error"]
    ),
    (
        "unchecked", "Sources/LiveRing/A.swift", "final class A: @unchecked  Sendable {}",
        ["Sources/LiveRing/A.swift:1: @uncheckedSendable: an actor or a Mutex holds what is shared"]
    ),
    (
        "nonisolated and unsafe", "Sources/liverelay/A.swift", "nonisolated(unsafe) var a = 0\nnonisolated let b = 0",
        ["Sources/liverelay/A.swift:1: nonisolated(unsafe): an actor or a Mutex holds what is shared"]
    ),
    (
        "wide access", "Sources/Decrypt/A.swift", "public struct A { package let publicKey: Int }",
        ["Sources/Decrypt/A.swift:1: public: package is the widest access: this is no library"]
    ),
    (
        "a clock in a pure module", "Sources/Splice/A.swift", "struct A<C: Clock> {}",
        ["Sources/Splice/A.swift:1: Clock: what is published depends only on what the upstream said"]
    ),
    (
        "the one driver that waits", "Sources/Tracker/Session/TrackerDriver.swift", "struct TrackerDriver<C: Clock> {}",
        []
    ),
    (
        "a throw of dice", "Sources/LiveRing/A.swift", "let name = UInt64.random(in: 0...9)",
        ["Sources/LiveRing/A.swift:1: .random(: what is published depends only on what the upstream said"]
    ),
    (
        "a hash that differs in every process", "Sources/Splice/A.swift", "let name = bytes.hashValue",
        ["Sources/Splice/A.swift:1: .hashValue: what is published depends only on what the upstream said"]
    ),
    (
        "dice in the executable", "Sources/liverelay/A.swift", "let a = Int.random(in: 0...9)",
        []
    ),
    (
        "a type with its module's name", "Sources/LiveRing/A.swift", "package actor LiveRing {}",
        ["Sources/LiveRing/A.swift:1: actor LiveRing bears its module's name"]
    ),
    (
        "a type with more than its module's name, and one inside of another", "Sources/LiveRing/A.swift",
        "package struct LiveRingEntry {}\nstruct Status { struct LiveRing {} }",
        []
    ),
    (
        "a path of one machine", "Captures/make", "cp a b\ncp a \"/tmp/b\"",
        ["Captures/make:2: names /tmp/…, a place of one machine"]
    ),
    (
        "the neighbour of the tree", "README.md", "as ../shared/NOTES.md says",
        ["README.md:1: names ../shared/…, a place of one machine"]
    ),
    (
        "a path of one machine inside another path", "README.md", "`$HOME/work/a`, http://host/tmp/a, Sources/tmp/a",
        []
    ),
    (
        "a pinned number", "README.md", "waits 10 s <!-- pinned: Sources/A.swift jump = .seconds(10) -->",
        []
    ),
    (
        "two pinned numbers, grouped digits", "ARCHITECTURE.md",
        "10 s <!-- pinned: Sources/A.swift jump = .seconds(10) --> of 90000 <!-- pinned: Sources/A.swift rate = 90_000 -->.",
        []
    ),
    (
        "the source has changed", "README.md", "waits 9 s <!-- pinned: Sources/A.swift jump = .seconds(9) -->",
        ["README.md:1: Sources/A.swift does not say jump = .seconds(9)"]
    ),
    (
        "the document has changed", "README.md", "waits 100 s <!-- pinned: Sources/A.swift jump = .seconds(10) -->",
        ["README.md:1: the line does not show 10"]
    ),
    (
        "the source has gone", "README.md", "waits 10 s <!-- pinned: Sources/B.swift jump = .seconds(10) -->",
        ["README.md:1: pinned to Sources/B.swift, which is not there"]
    ),
    (
        "a pin without a number", "README.md", "waits <!-- pinned: Sources/A.swift jump -->",
        ["README.md:1: Sources/A.swift jump has no number"]
    ),
]

@Suite("The rules of the tree") struct LayoutRuleTests {
    private let pins = PinRule(sources: [
        SourceFile(
            path: "Sources/A.swift",
            text: "static let jump: Duration = .seconds(1)\nlet jump = .seconds( 10 )\nlet rate = 90_000")
    ])

    @Test(arguments: rows)
    func rule(when: String, path: String, text: String, finds: [String]) {
        let file = SourceFile(path: path, text: text)
        let rules = [
            ImportRule.findings, WordRule.findings, NameRule.findings, RetiredWordRule.findings, PathRule.findings,
            pins.findings(in:),
        ]
        #expect(rules.flatMap { $0(file) } == finds, "\(when)")
    }

    @Test("Every rule about words finds its words") func everyWord() {
        for rule in WordRule.all {
            let file = SourceFile(path: "Sources/Splice/A.swift", text: rule.words.joined(separator: " "))
            #expect(WordRule.findings(in: file).count == 1, "\(rule.words)")
        }
    }

    @Test("Folders that refer to each other are found, and only these") func folders() {
        let rule = FolderRule(files: [
            SourceFile(path: "Sources/A/Top/Engine.swift", text: "struct Engine { let part: Part }"),
            SourceFile(
                path: "Sources/A/Parts/Part.swift", text: "struct Part { struct Inner {}; var rest: [Wheel] = [] }"),
            SourceFile(path: "Sources/A/Wheels/Wheel.swift", text: "struct Wheel { func part() -> Part? { nil } }"),
            SourceFile(
                path: "Sources/B/Wheel.swift", text: "// Engine\nstruct Axle { enum Engine {}; let engine: Engine }"),
        ])
        #expect(
            rule.findings == [
                "Sources/A/Parts → Sources/A/Wheels: Sources/A/Parts/Part.swift:1 names Wheel",
                "Sources/A/Wheels → Sources/A/Parts: Sources/A/Wheels/Wheel.swift:1 names Part",
            ])
    }
}
