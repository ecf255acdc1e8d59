extension BitReader {
    /// Reads 33 bits of a 90 kHz clock.
    mutating func clockTime() throws(MediaError) -> Ticks {
        let high = try u(1)
        return Ticks(Int64(high) << 32 | Int64(try u(32)))
    }

    /// Reads splice_time() (SCTE 35 §9.8.1); nil if no time is specified.
    mutating func spliceTime() throws(MediaError) -> Ticks? {
        guard try flag() else {
            try skip(7)
            return nil
        }
        try skip(6)
        return try clockTime()
    }
}
