import Testing

@testable import Support

@Suite struct RecordingPatternTests {
    @Test(arguments: [
        ("Evening news", "Evening news"), ("a/b: c?", "a_b_ c_"), ("..", "_."),
        (String(repeating: "a", count: 200), String(repeating: "a", count: 120)),
        ("ab" + String(repeating: "\u{6620}", count: 60), "ab" + String(repeating: "\u{6620}", count: 39)),
    ])
    func componentsAreShortAndWhole(_ title: String, _ component: String) {
        #expect(RecordingPattern.component(title) == component)
    }
}
