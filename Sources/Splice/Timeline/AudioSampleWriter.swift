import Demux
import Media
import Mux
import Transcode

/// Writes the audio samples of one segment up to a limit.
struct AudioSampleWriter {
    /// Duration of one frame in the audio timescale.
    let frameDuration: Int64
    let limit: Int64
    private let silence: SilentFrame?
    /// Duration of one silent frame in the audio timescale.
    private let silentDuration: Int64
    private let fillsGaps: Bool
    private(set) var nextDecodeTime: Int64
    private(set) var samples: [MuxSample] = []
    private(set) var silentFrames = 0

    init(
        configuration: AudioConfiguration, silence: SilentFrame?, fillsGaps: Bool, next: Int64, limit: Int64
    ) {
        let duration = { (samples: Int) in
            TrackTimescale.audio * Int64(samples) / Int64(configuration.sampleRate.hertz)
        }
        frameDuration = duration(configuration.samplesPerFrame)
        silentDuration = duration(silence?.samples ?? configuration.samplesPerFrame)
        self.silence = silence
        self.fillsGaps = fillsGaps
        self.nextDecodeTime = next
        self.limit = limit
    }

    /// Writes a frame after a `gap`, whose whole frames are filled with silence.
    /// - Returns: false if the limit came first.
    mutating func write(_ payload: ArraySlice<UInt8>, after gap: Int64) -> Bool {
        var gap = gap
        while fillsGaps, silence != nil, gap >= silentDuration, nextDecodeTime + silentDuration <= limit {
            appendSilence()
            gap -= silentDuration
        }
        guard nextDecodeTime + gap + frameDuration <= limit else { return false }
        append(payload, lasting: min(frameDuration + gap, Int64(UInt32.max)))
        return true
    }

    mutating func fillWithSilence() {
        guard fillsGaps, silence != nil else { return }
        while nextDecodeTime + silentDuration <= limit { appendSilence() }
    }

    /// Writes one frame even if it ends past the limit: a fragment has samples for each track of its init section.
    /// - Parameters:
    ///   - payload: the frame that is due here; nil if none is, then silence is written.
    ///   - last: payload for a configuration without silence; it lasts as long as the fragment.
    /// - Returns: whether `payload` was written.
    mutating func writeAtLeastOne(_ payload: ArraySlice<UInt8>?, otherwise last: [UInt8]) -> Bool {
        if let payload {
            append(payload, lasting: frameDuration)
        } else if silence != nil {
            appendSilence()
        } else {
            append(last[...], lasting: min(max(frameDuration, limit - nextDecodeTime), Int64(UInt32.max)))
        }
        return payload != nil
    }

    private mutating func appendSilence() {
        guard let silence else { return }
        append(silence.payload[...], lasting: silentDuration)
        silentFrames += 1
    }

    private mutating func append(_ payload: ArraySlice<UInt8>, lasting duration: Int64) {
        samples.append(
            MuxSample(duration: UInt32(duration), compositionOffset: 0, isSync: true, payload: payload))
        nextDecodeTime += duration
    }
}
