import Foundation
import TestSupport
import Testing

@testable import Conformance

@Suite struct RuleTableTests {
    /// docs/rules.md has the rows of the table between its heading and the next one.
    @Test func documentHasTheTable() throws {
        let file = PackageRoot.url.appending(path: "docs/rules.md")
        let document = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(document.firstRange(of: "| id | name |"))
        let end = document[start.lowerBound...].firstRange(of: "\n\n")?.lowerBound ?? document.endIndex
        let written = document[..<start.lowerBound] + Rule.table.dropLast() + document[end...]
        try expectGolden(String(written), at: file)
    }

    @Test func rowsAreComplete() {
        #expect(Rule.allCases.count == 42 && Rule.rows.count == 42)
        #expect(Set(Rule.allCases.map(\.name)).count == 42)
        for rule in Rule.allCases {
            #expect(Rule(text: "\(rule.rawValue)") == rule && Rule(text: rule.name) == rule)
            #expect(!rule.row.demand.isEmpty && rule.row.remedy.hasSuffix(".") && !rule.row.clause.isEmpty)
        }
        #expect(Rule(text: "0") == nil && Rule(text: "43") == nil && Rule(text: "x") == nil)
    }
}
