import TestSupport
import Testing

/// What each rule says of a made-up file: proof that it can fail, and that it does not fail for nothing.
private let rows: [(when: String, path: String, text: String, finds: [String])] = [
    (
        "an arrow as drawn", "Sources/Tracker/A.swift", "package import Playlist",
        []
    ),
    (
        "a shift after a quotient", "Sources/Splice/A.swift", "let a = b / 3600 << 11 | (b / 60) << 5 | c * (1 << d)",
        ["Sources/Splice/A.swift:1: a shift binds before / and *: say which is meant with brackets"]
    ),
    (
        "a second import in a file", "Sources/Splice/A.swift", "// first line\nimport struct Glibc.stat",
        [
            "Sources/Splice/A.swift:2: imports Glibc, which only \(ImportRule.importers["Glibc", default: []].joined(separator: ", ")) may"
        ]
    ),
    (
        "the channel's pipeline that logs", "Sources/Channel/A.swift", "import Logging",
        [
            "Sources/Channel/A.swift:1: imports Logging, which only WebServer/, Observability/, Guide/, Service/, liverelay/ may"
        ]
    ),
    (
        "the channel's pipeline that reads the wall clock", "Sources/Channel/A.swift", "let now = Date()",
        ["Sources/Channel/A.swift:1: Date(): what is published depends only on what the upstream said"]
    ),
    (
        "a C library outside of its folder", "Sources/Tracker/A.swift", "@preconcurrency import CCurl",
        ["Sources/Tracker/A.swift:1: imports CCurl, which only Fetch/Curl/ may"]
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
        [
            "Sources/Playlist/A.swift:1: imports Foundation, which only Capture/, Support/Dates/LocalClock.swift, Record/, HTTP/Access/, WebServer/, Observability/, Guide/, Service/, liverelay/ may"
        ]
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
        "a pinned number", "docs/pins.txt", "# a comment\nREADME.md\twaits 10 s\tA.swift\tjump = .seconds(10)",
        []
    ),
    (
        "grouped digits", "docs/pins.txt", "README.md\tof 90000.\tA.swift\trate = 90_000",
        []
    ),
    (
        "the source has changed", "docs/pins.txt", "README.md\twaits 9 s\tA.swift\tjump = .seconds(9)",
        ["docs/pins.txt:1: A.swift does not say jump = .seconds(9)"]
    ),
    (
        "the document has changed", "docs/pins.txt", "README.md\twaits 11 s\tA.swift\tjump = .seconds(10)",
        ["docs/pins.txt:1: README.md has “waits 11 s” 0 times"]
    ),
    (
        "words that stand in two places", "docs/pins.txt", "README.md\t9 s\tA.swift\tjump = .seconds(10)",
        ["docs/pins.txt:1: README.md has “9 s” 2 times"]
    ),
    (
        "words with another number", "docs/pins.txt", "README.md\tfor 100 s\tA.swift\tjump = .seconds(10)",
        ["docs/pins.txt:1: “for 100 s” does not show 10"]
    ),
    (
        "no such document", "docs/pins.txt", "docs/a.md\twaits 10 s\tA.swift\tjump = .seconds(10)",
        ["docs/pins.txt:1: docs/a.md is not there"]
    ),
    (
        "no such source", "docs/pins.txt", "README.md\twaits 10 s\tC.swift\tjump = .seconds(10)",
        ["docs/pins.txt:1: C.swift is not the name of one file of Sources"]
    ),
    (
        "a name of two sources", "docs/pins.txt", "README.md\twaits 10 s\tB.swift\tjump = .seconds(10)",
        ["docs/pins.txt:1: B.swift is not the name of one file of Sources"]
    ),
    (
        "a pin without a number", "docs/pins.txt", "README.md\twaits 9 s\tA.swift\tjump",
        ["docs/pins.txt:1: jump has no number"]
    ),
    (
        "a pin with spaces for tabs", "docs/pins.txt", "README.md waits 9 s A.swift jump",
        ["docs/pins.txt:1: a row has four fields between tabs"]
    ),
    (
        "links that lead somewhere", "README.md",
        "[a](docs/cli.md#relay), [b](#links-and-what) [c](https://a.example/)",
        []
    ),
    (
        "links that lead nowhere", "docs/http.md", "[a](../README.md#what)\n[b](none.md) [c](cli.md#none)",
        [
            "docs/http.md:1: ../README.md#what leads nowhere", "docs/http.md:2: none.md leads nowhere",
            "docs/http.md:2: cli.md#none leads nowhere",
        ]
    ),
]

private let mapRows: [(when: String, row: String, finds: [String])] = [
    ("a symbol that its file declares", "| rate | `A/A.swift` | `rate` |", []),
    ("a row without a file", "| `A` | the core |", []),
    ("a file that has gone", "| rate | `A/C.swift` | `rate` |", ["ARCHITECTURE.md:1: A/C.swift is not in Sources"]),
    (
        "a symbol that has gone", "| rate | `A/A.swift` | `pace` |",
        ["ARCHITECTURE.md:1: A/A.swift does not declare pace"]
    ),
    (
        "a word that is no symbol", "| s | `A/A.swift` | `seconds` |",
        ["ARCHITECTURE.md:1: A/A.swift does not declare seconds"]
    ),
    ("no symbol", "| rate | `A/A.swift` |", ["ARCHITECTURE.md:1: A/A.swift has no symbol"]),
]

@Suite("The rules of the tree") struct LayoutRuleTests {
    private static let files = [
        SourceFile(
            path: "Sources/A/A.swift",
            text: "static let jump: Duration = .seconds(1)\nlet jump = .seconds( 10 )\nlet rate = 90_000"),
        SourceFile(path: "Sources/A/B.swift", text: ""), SourceFile(path: "Sources/B/B.swift", text: ""),
        SourceFile(
            path: "README.md",
            text: "## Links, and `what`?\n\nwaits 10 s, waits 9 s or 9 s, for 100 s of 90000."),
        SourceFile(path: "docs/cli.md", text: "# The command line\n\n## relay"),
        SourceFile(path: "docs/http.md", text: ""),
    ]
    private let pins = PinRule(files: Self.files)
    private let links = LinkRule(files: Self.files, root: PackageRoot.url)

    @Test(arguments: rows)
    func rule(when: String, path: String, text: String, finds: [String]) {
        let file = SourceFile(path: path, text: text)
        let rules = [
            ImportRule.findings, WordRule.findings, NameRule.findings, RetiredWordRule.findings, PathRule.findings,
            ShiftRule.findings,
            pins.findings(in:), links.findings(in:),
        ]
        #expect(rules.flatMap { $0(file) } == finds, "\(when)")
    }

    @Test(arguments: mapRows)
    func map(when: String, row: String, finds: [String]) {
        let map = SourceFile(path: "ARCHITECTURE.md", text: row)
        #expect(MapRule(files: Self.files).findings(in: map) == finds, "\(when)")
    }

    @Test func sharedNames() {
        let files = [
            ("A", "struct One {}"), ("B", "enum One { struct Two {} }"), ("C", "private struct One {}\nclass Two {}"),
        ]
        .map { SourceFile(path: "Sources/\($0.0)/File.swift", text: $0.1) }
        #expect(
            NameRule.sharedNames(in: files) == ["One is at Sources/A/File.swift:1 and Sources/B/File.swift:1"])
    }

    @Test("Stored offsets are found, those of one call and of a type's own bytes are not") func offsets() {
        let rows = [
            ("struct PESAssembler {\n    private var lastPayload: Range<Int>?\n}", 1),
            ("struct Framer: Sendable {\n    private(set) var units: [NALUnit] = []\n}", 1),
            ("struct Framer {\n    func scan() {\n        var units: [NALUnit] = []\n    }\n}", 0),
            ("struct TransportPacket {\n    let payload: Range<Int>\n}", 0),
            ("struct Framer {\n    var range: Range<Int> {\n    }\n    let ranges: [Range<UInt64>]\n}", 0),
        ]
        for (text, count) in rows {
            #expect(
                OffsetRule.findings(in: SourceFile(path: "Sources/Demux/A.swift", text: text)).count == count, "\(text)"
            )
        }
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
