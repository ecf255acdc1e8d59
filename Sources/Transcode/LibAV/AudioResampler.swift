import CLibAV
import Media

/// Converts audio of one format to planar floating point of another rate and channel layout with libswresample.
///
/// The first output sample has the time of the first input sample. `drain` returns the samples that the filter delays.
@safe struct AudioResampler: ~Copyable {
    struct Format: Equatable, Sendable {
        let sampleRate: Int
        let channelCount: Int
        let sampleFormat: Int32

        init(_ frame: borrowing LibAVFrame) {
            sampleRate = frame.sampleRate
            channelCount = frame.channelCount
            sampleFormat = frame.format
        }
    }

    private let context: OpaquePointer
    private let libav: LibAV.Functions
    private let output: LibAVFrame
    private let sampleRate: Int
    private let layout: AACLayout

    init(sampleRate: Int, layout: AACLayout) throws(MediaError) {
        let libav = unsafe try LibAV.functions()
        let output = try LibAVFrame()
        guard let context = unsafe libav.pointee.swr_alloc() else { throw LibAV.error(averrorNoMemory, "swr_alloc") }
        unsafe self.context = context
        unsafe self.libav = unsafe libav
        self.output = output
        self.sampleRate = sampleRate
        self.layout = layout
        // Integer processing, because processors differ in the last bit of floating-point results.
        _ = unsafe libav.pointee.av_opt_set_sample_fmt(
            UnsafeMutableRawPointer(context), "internal_sample_fmt", AV_SAMPLE_FMT_S32P, 0)
    }

    deinit {
        var freed: OpaquePointer? = unsafe context
        unsafe libav.pointee.swr_free(&freed)
    }

    func convert(_ frame: borrowing LibAVFrame, into samples: inout PlanarSamples) throws(MediaError) {
        try unsafe convert(frame.raw, into: &samples)
    }

    func drain(into samples: inout PlanarSamples) throws(MediaError) {
        try unsafe convert(nil, into: &samples)
    }

    private func convert(
        _ frame: UnsafeMutablePointer<AVFrame>?, into samples: inout PlanarSamples
    ) throws(MediaError) {
        unsafe libav.pointee.av_frame_unref(output.raw)
        unsafe output.raw.pointee.sample_rate = Int32(clamping: sampleRate)
        unsafe output.raw.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
        try LibAV.check(
            unsafe libav.pointee.av_channel_layout_from_mask(&output.raw.pointee.ch_layout, layout.mask),
            "av_channel_layout_from_mask")
        try LibAV.check(unsafe libav.pointee.swr_convert_frame(context, output.raw, frame), "swr_convert_frame")
        samples.append(output)
    }
}

/// First-in, first-out buffer of samples per channel.
struct PlanarSamples: Sendable {
    private var planes: [[Float]]
    private var consumed = 0

    init(channelCount: Int) { planes = Array(repeating: [], count: channelCount) }

    var count: Int { (planes.first?.count ?? 0) - consumed }

    fileprivate mutating func append(_ frame: borrowing LibAVFrame) {
        let count = frame.sampleCount
        guard count > 0, frame.channelCount == planes.count else { return }
        for channel in planes.indices {
            guard let plane = unsafe frame.raw.pointee.extended_data[channel] else { continue }
            let samples = unsafe UnsafeRawBufferPointer(start: plane, count: count * MemoryLayout<Float>.size)
            unsafe samples.withMemoryRebound(to: Float.self) { unsafe planes[channel].append(contentsOf: $0) }
        }
    }

    /// Moves the next `count` samples into the planes of `frame`. The buffer must hold that many.
    mutating func move(_ count: Int, into frame: borrowing LibAVFrame) {
        for (channel, plane) in planes.enumerated() {
            guard let target = unsafe frame.raw.pointee.extended_data[channel] else { continue }
            unsafe plane[consumed..<consumed + count].withUnsafeBytes {
                unsafe UnsafeMutableRawBufferPointer(start: target, count: $0.count).copyMemory(from: $0)
            }
        }
        consumed += count
        guard consumed >= 1 << 14 || consumed == planes.first?.count else { return }
        for channel in planes.indices { planes[channel].removeFirst(consumed) }
        consumed = 0
    }
}
