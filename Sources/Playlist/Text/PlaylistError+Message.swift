import Support

extension PlaylistError {
    /// The standard and the section that require otherwise.
    package var standard: String { section.contains("§") ? section : "RFC 8216 §\(section)" }

    package var message: String {
        switch reason {
        case .notAPlaylist(let kind, _): "it is \(kind)"
        case .missing: "\(tag) is missing"
        case .missingAttribute(let name): "\(tag) has no attribute \(name)"
        case .undefinedVariable(let name): "\(tag) uses the variable \(name.quoted), which nothing defines"
        case .duplicate: "\(tag) occurs twice"
        case .badValue(let value): "\(tag) has the value \(value.quoted)"
        case .misplaced: "\(tag) is not allowed here"
        case .exceeds(let limit): "\(tag) exceeds the limit \(limit.rawValue)"
        case .canceled: "reading was canceled"
        }
    }
}
