/// Identifier of a frame, written over the last bytes of its coded slice, such as `<00001234.0056>S`.
///
/// No stage of the pipeline reads these bytes, so they are published with the frame.
struct FrameID: Equatable, Comparable {
    static let byteCount = 16

    /// Index of the segment in the channel.
    let segment: Int
    /// Index of the frame in its segment, in decoding order.
    let frame: Int

    init(segment: Int, frame: Int) {
        self.segment = segment
        self.frame = frame
    }

    /// Identifier in a published sample; nil if there is none or it was damaged.
    init?(_ sample: ArraySlice<UInt8>) {
        let bytes = Array(sample.suffix(Self.byteCount))
        guard bytes.count == Self.byteCount, bytes[0] == UInt8(ascii: "<"), bytes[15] == UInt8(ascii: "S") else {
            return nil
        }
        guard let segment = Self.number(bytes[1..<9]), let frame = Self.number(bytes[10..<14]) else { return nil }
        self.init(segment: segment, frame: frame)
    }

    var bytes: [UInt8] {
        [UInt8(ascii: "<")] + Self.digits(segment, 8) + [UInt8(ascii: ".")] + Self.digits(frame, 4)
            + [UInt8(ascii: ">"), UInt8(ascii: "S")]
    }

    static func < (left: FrameID, right: FrameID) -> Bool {
        (left.segment, left.frame) < (right.segment, right.frame)
    }

    private static func digits(_ number: Int, _ count: Int) -> [UInt8] {
        var rest = number
        var digits = Array(repeating: UInt8(ascii: "0"), count: count)
        for index in digits.indices.reversed() {
            digits[index] += UInt8(rest % 10)
            rest /= 10
        }
        return digits
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        var number = 0
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return number
    }
}
