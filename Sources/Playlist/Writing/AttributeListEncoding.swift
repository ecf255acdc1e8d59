import Support

// Encoding of values as attribute lists.

extension VariableDefinition {
    var attributes: AttributeList {
        var list = AttributeList()
        list.set("NAME", to: name, isQuoted: true)
        list.set("VALUE", to: value, isQuoted: true)
        return list
    }
}

extension StartOffset {
    var attributes: AttributeList {
        var list = AttributeList()
        list.set("TIME-OFFSET", to: DecimalSeconds.text(timeOffset))
        list.set("PRECISE", to: isPrecise ? "YES" : nil)
        return list
    }
}

extension ServerControl {
    var attributes: AttributeList {
        var list = AttributeList()
        list.set("CAN-BLOCK-RELOAD", to: canBlockReload ? "YES" : nil)
        list.set("CAN-SKIP-UNTIL", to: canSkipUntil.map { DecimalSeconds.text($0) })
        list.set("CAN-SKIP-DATERANGES", to: canSkipDateRanges ? "YES" : nil)
        list.set("HOLD-BACK", to: holdBack.map { DecimalSeconds.text($0) })
        list.set("PART-HOLD-BACK", to: partHoldBack.map { DecimalSeconds.text($0) })
        return list
    }
}

extension PartialSegment {
    var attributes: AttributeList {
        var list = AttributeList()
        list.set("DURATION", to: DecimalSeconds.text(duration))
        list.set("URI", to: uri, isQuoted: true)
        list.set("BYTERANGE", to: byteRange?.text, isQuoted: true)
        list.set("INDEPENDENT", to: isIndependent ? "YES" : nil)
        list.set("GAP", to: isGap ? "YES" : nil)
        return list
    }
}

extension SegmentKey {
    var attributes: AttributeList {
        var list = AttributeList()
        list.set("METHOD", to: method.text)
        list.set("URI", to: uri, isQuoted: true)
        list.set("IV", to: initializationVector.map { "0x" + Hexadecimal.encode($0, uppercase: true) })
        list.set("KEYFORMAT", to: keyFormat == Self.identityFormat ? nil : keyFormat, isQuoted: true)
        list.set("KEYFORMATVERSIONS", to: keyFormatVersions, isQuoted: true)
        return list
    }
}

extension MediaInitialization {
    var attributes: AttributeList {
        var list = AttributeList()
        list.set("URI", to: uri, isQuoted: true)
        list.set("BYTERANGE", to: byteRange?.text, isQuoted: true)
        return list
    }
}

extension MediaPlaylist {
    var skipAttributes: AttributeList {
        var list = AttributeList()
        list.set("SKIPPED-SEGMENTS", to: String(skippedSegments))
        let removed = recentlyRemovedDateRanges
        list.set(
            "RECENTLY-REMOVED-DATERANGES", to: removed.isEmpty ? nil : removed.joined(separator: "\t"), isQuoted: true)
        return list
    }
}

extension ByteRange {
    /// The range as `length@offset`. The offset is always written.
    var text: String { "\(length)@\(offset)" }
}
