/// st_ref_pic_set (ISO/IEC 23008-2 §7.3.7, §7.4.8) of a sequence parameter set.
struct HEVCReferencePictureSet: Equatable, Sendable {
    /// DeltaPocS0 (falling, below 0), then DeltaPocS1 (rising, above 0).
    var deltaPocs: [Int] = []

    /// The largest number of pictures in each direction.
    private static let maximum = 16

    /// - Parameter previous: the preceding set, from which this set may be predicted; nil for the first.
    init(_ bits: inout BitReader, previous: HEVCReferencePictureSet?) throws(MediaError) {
        if let previous, try bits.flag() {
            deltaPocs = try Self.predicted(&bits, from: previous)
        } else {
            let negative = try bits.ue("num_negative_pics", in: 0...Self.maximum)
            let positive = try bits.ue("num_positive_pics", in: 0...Self.maximum)
            deltaPocs = try Self.explicit(&bits, count: negative, sign: -1)
            deltaPocs += try Self.explicit(&bits, count: positive, sign: 1)
        }
        guard deltaPocs.count <= 2 * Self.maximum else { throw bits.fault(.badParameterSet(field: "use_delta_flag")) }
    }

    private static func explicit(_ bits: inout BitReader, count: Int, sign: Int) throws(MediaError) -> [Int] {
        var pocs: [Int] = []
        for _ in 0..<count {
            let step = try bits.ue("delta_poc_minus1", in: 0...32_767) + 1
            pocs.append((pocs.last ?? 0) + sign * step)
            try bits.skip(1)  // used_by_curr_pic_flag
        }
        return pocs
    }

    /// Returns the pictures of the previous set and the previous picture itself, shifted by deltaRps (equations 7-61
    /// and 7-62).
    private static func predicted(
        _ bits: inout BitReader, from previous: HEVCReferencePictureSet
    ) throws(MediaError) -> [Int] {
        let isNegative = try bits.flag()
        let magnitude = try bits.ue("abs_delta_rps_minus1", in: 0...32_767) + 1
        let deltaRps = isNegative ? -magnitude : magnitude
        var shifted: [Int] = []
        for poc in previous.deltaPocs + [0] {
            // used_by_curr_pic_flag, followed by use_delta_flag if it is 0.
            let isKept = try bits.flag() ? true : bits.flag()
            if isKept { shifted.append(poc + deltaRps) }
        }
        return shifted.filter { $0 < 0 }.sorted(by: >) + shifted.filter { $0 > 0 }.sorted()
    }
}
