/// What a picture is known again by, written over the last bytes of its coded slice: nothing on the way reads them, and
/// they arrive where the picture does. `<00001234.0056>S`
struct FrameID: Equatable, Comparable {
    static let byteCount = 16

    /// Of the channel, counted from its first one.
    let segment: Int
    /// In its segment, in the order of decoding.
    let picture: Int

    init(segment: Int, picture: Int) {
        self.segment = segment
        self.picture = picture
    }

    /// - Parameter sample: a coded picture as published. nil where it bears no name, or its name was damaged.
    init?(_ sample: ArraySlice<UInt8>) {
        let name = Array(sample.suffix(Self.byteCount))
        guard name.count == Self.byteCount, name[0] == UInt8(ascii: "<"), name[15] == UInt8(ascii: "S") else {
            return nil
        }
        guard let segment = Self.number(name[1..<9]), let picture = Self.number(name[10..<14]) else { return nil }
        self.init(segment: segment, picture: picture)
    }

    var bytes: [UInt8] {
        [UInt8(ascii: "<")] + Self.digits(segment, 8) + [UInt8(ascii: ".")] + Self.digits(picture, 4)
            + [UInt8(ascii: ">"), UInt8(ascii: "S")]
    }

    static func < (left: FrameID, right: FrameID) -> Bool {
        (left.segment, left.picture) < (right.segment, right.picture)
    }

    private static func digits(_ number: Int, _ count: Int) -> [UInt8] {
        var rest = number
        var digits = Array(repeating: UInt8(ascii: "0"), count: count)
        for place in digits.indices.reversed() {
            digits[place] += UInt8(rest % 10)
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
