import Media

/// An `emsg` in the form of a packager (ISO/IEC 23009-1 §5.10.3.3).
struct EventMessageSketch {
    var version: UInt8 = 1
    var timescale: UInt32 = 1000
    /// presentation_time, or presentation_time_delta.
    var time: UInt64 = 0
    var duration: UInt32 = .max
    var id: UInt32 = 1
    var scheme = Array("urn:a".utf8)
    var value = Array("v".utf8)
    var data: [UInt8] = [1, 2, 3]

    var bytes: [UInt8] {
        var writer = BoxWriter()
        writer.fullBox("emsg", version: version) { box in
            if version == 0 { box.append(scheme + [0] + value + [0]) }
            box.u32(timescale)
            if version == 0 { box.u32(UInt32(truncatingIfNeeded: time)) } else { box.u64(time) }
            box.u32(duration)
            box.u32(id)
            if version != 0 { box.append(scheme + [0] + value + [0]) }
            box.append(data)
        }
        return writer.bytes
    }
}
