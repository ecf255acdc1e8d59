/// EXT-X-DATERANGE (RFC 8216 §4.3.2.7); `attributes` are all of them as written, ID included.
package struct DateRange: Equatable, Sendable {
    package var attributes: AttributeList

    package init(id: String, attributes: AttributeList = AttributeList()) {
        self.attributes = attributes
        self.id = id
    }

    package var id: String {
        get { attributes["ID"] ?? "" }
        set { attributes.set("ID", to: newValue, isQuoted: true) }
    }
}

/// Attributes as values; nil where one is absent or cannot be read.
extension DateRange {
    package var startDate: ProgramDateTime? {
        get { date("START-DATE") }
        set { attributes.set("START-DATE", to: newValue?.text, isQuoted: true) }
    }

    package var endDate: ProgramDateTime? {
        get { date("END-DATE") }
        set { attributes.set("END-DATE", to: newValue?.text, isQuoted: true) }
    }

    package var duration: Duration? {
        get { seconds("DURATION") }
        set { attributes.set("DURATION", to: newValue.map { DecimalSeconds.text($0) }) }
    }

    package var plannedDuration: Duration? {
        get { seconds("PLANNED-DURATION") }
        set { attributes.set("PLANNED-DURATION", to: newValue.map { DecimalSeconds.text($0) }) }
    }

    package var className: String? { attributes["CLASS"] }

    package var isEndOnNext: Bool { attributes["END-ON-NEXT"] == "YES" }

    /// A whole splice_info_section (SCTE 35 §9.2), as SCTE35-CMD, SCTE35-OUT and SCTE35-IN carry it.
    package enum SpliceAttribute: String, Sendable, CaseIterable {
        case command = "SCTE35-CMD"
        case out = "SCTE35-OUT"
        case `in` = "SCTE35-IN"
    }

    package subscript(splice attribute: SpliceAttribute) -> [UInt8]? {
        get { attributes[attribute.rawValue].flatMap { SpliceSectionText.decodeHexadecimal($0) } }
        set { attributes.set(attribute.rawValue, to: newValue.map { SpliceSectionText.encodeHexadecimal($0) }) }
    }

    /// When it is over, as far as it says so: END-DATE, or START-DATE and DURATION.
    package var end: ProgramDateTime? {
        if let endDate { return endDate }
        guard let startDate, let duration else { return nil }
        return startDate.advanced(by: duration)
    }

    private func date(_ name: String) -> ProgramDateTime? {
        attributes[name].flatMap { ProgramDateTime(parsing: $0) }
    }

    private func seconds(_ name: String) -> Duration? { attributes[name].flatMap { DecimalSeconds.duration($0) } }
}

/// Two tags of one ID speak of one range, and what both say is the same (§4.3.2.7): a range is told more of, never
/// told otherwise.
extension DateRange {
    /// Adds the attributes of `other` that this one lacks.
    /// - Returns: the names of those that it has with another value; they stay as they are.
    @discardableResult
    package mutating func add(_ other: DateRange) -> [String] {
        var refused: [String] = []
        for attribute in other.attributes.attributes where attribute.name != "ID" {
            switch attributes[attribute.name] {
            case nil: attributes.attributes.append(attribute)
            case attribute.value: continue
            default: refused.append(attribute.name)
            }
        }
        return refused
    }
}
