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

    @Test("No file names a place of one machine") func paths() {
        #expect([SourceFile].package.flatMap(PathRule.findings) == [])
    }

    @Test("Numbers in documents are those of the sources") func pins() {
        let rule = PinRule(sources: Self.swift)
        #expect([SourceFile].package.flatMap(rule.findings) == [])
    }
}
