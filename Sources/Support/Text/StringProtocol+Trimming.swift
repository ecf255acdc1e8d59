extension StringProtocol {
    /// The text without the spaces and tabs (OWS, RFC 9110 §5.6.3) at both ends.
    package var trimmingBlanks: SubSequence {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let start = firstIndex { !isBlank($0) } ?? endIndex
        let end = self[start...].lastIndex { !isBlank($0) }
        return end.map { self[start...$0] } ?? self[start..<start]
    }
}
