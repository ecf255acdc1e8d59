import TestSupport
import Testing

@Suite("What the tree looks like") struct LayoutTests {
    private static let swift = [SourceFile].package.filter { $0.path.hasSuffix(".swift") }

    @Test("The tree is read at all") func treeIsRead() {
        let modules = Set([SourceFile].package.compactMap(\.module))
        #expect(modules.isSuperset(of: ImportRule.modules))
    }

    @Test("Every import follows the arrows") func imports() {
        #expect(Self.swift.flatMap(ImportRule.findings) == [])
    }

    @Test("No source holds a word that is not ours") func words() {
        #expect(Self.swift.flatMap(WordRule.findings) == [])
    }

    @Test("No type bears its module's name") func names() {
        #expect(Self.swift.flatMap(NameRule.findings) == [])
    }

    @Test("No two types share a name") func sharedNames() {
        #expect(NameRule.sharedNames(in: Self.swift) == [])
    }

    @Test("No identifier holds a retired word") func retiredWords() {
        #expect(Self.swift.flatMap(RetiredWordRule.findings) == [])
    }

    @Test("No type of Demux keeps an offset of bytes that it does not own") func offsets() {
        #expect(Self.swift.flatMap(OffsetRule.findings) == [])
    }

    @Test("No folders of a module refer to each other in a circle") func folders() {
        #expect(FolderRule(files: Self.swift).findings == [])
    }

    @Test("No file names a place of one machine") func paths() {
        #expect([SourceFile].package.flatMap(PathRule.findings) == [])
    }

    @Test("No shift stands unbracketed after a quotient or a product") func shifts() {
        #expect(Self.swift.flatMap(ShiftRule.findings) == [])
    }

    @Test("The map's files are there and declare its symbols") func map() throws {
        let map = try #require([SourceFile].package.first { $0.path == "ARCHITECTURE.md" })
        #expect(MapRule(files: .package).findings(in: map) == [])
        #expect(map.text.matches(of: /\.swift` \|/).count > 40)
    }

    @Test("Numbers in documents are those of the sources") func pins() {
        let rule = PinRule(files: .package)
        #expect([SourceFile].package.contains { $0.path == PinRule.path })
        #expect([SourceFile].package.flatMap(rule.findings) == [])
    }

    @Test("Links between documents lead somewhere") func links() {
        let rule = LinkRule(files: .package, root: PackageRoot.url)
        #expect([SourceFile].package.flatMap(rule.findings) == [])
    }
}
