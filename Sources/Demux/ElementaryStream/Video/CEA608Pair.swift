package import Media

/// Two bytes of line 21, with which a picture carries captions of CEA-608 (CTA-608 §8.4).
package struct CEA608Pair: Equatable, Sendable {
    /// 0 for the first field: CC1 and CC2. 1 for the second: CC3 and CC4.
    package let field: Int
    package let first: UInt8
    package let second: UInt8

    package init(field: Int, first: UInt8, second: UInt8) {
        (self.field, self.first, self.second) = (field, first, second)
    }
}

extension CEA608Pair {
    package static func pairs(of payload: ArraySlice<UInt8>, codec: VideoConfiguration.Codec) -> [CEA608Pair] {
        let bytes = Array(payload)
        if codec == .mpeg2 {
            var units: [NALUnit] = []
            try? AnnexB.scan(bytes, in: bytes.indices, keepsZeros: true, into: &units)
            return units.filter { bytes[$0.start] == MPEG2Picture.userDataStartCode }
                .flatMap {
                    CaptionData.cea608Pairs(in: CaptionData.message(ofUserData: bytes[$0.start + 1..<$0.end]))
                }
        }
        return LengthPrefixedNALUnits.units(of: bytes).flatMap {
            SEIMessage.userDataRegistered.all(in: $0, of: bytes, codec: codec, limit: CaptionData.messageLimit)
        }
        .flatMap { CaptionData.cea608Pairs(in: $0) }
    }
}
