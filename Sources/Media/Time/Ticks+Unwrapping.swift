/// Timestamp unwrapping: 33-bit wire timestamps and the continuous timeline (ISO/IEC 13818-1 §2.4.3.7).
extension Ticks {
    /// The period of the wire's 33-bit clock: about 26.5 hours.
    package static let wrap: Int64 = 1 << 33

    /// Unwraps a wire timestamp: the value nearest to `reference` whose low 33 bits equal those of `wire`.
    package init(wire: Ticks, near reference: Ticks) {
        let ahead = (wire.count - reference.count) & (Self.wrap - 1)
        self.init(reference.count + (ahead < Self.wrap / 2 ? ahead : ahead - Self.wrap))
    }

    /// The low 33 bits: the timestamp that a PES header would carry.
    package var wire: Ticks { Ticks(count & (Self.wrap - 1)) }

    /// Returns the earlier of two wire timestamps that are less than half a wrap apart.
    package static func earlierOnWire(_ first: Ticks, _ second: Ticks) -> Ticks {
        Ticks(wire: second, near: first) < first ? second : first
    }
}
