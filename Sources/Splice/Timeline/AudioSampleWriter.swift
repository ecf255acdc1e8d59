import Demux
import Media
import Mux
import Transcode

/// Writes one segment's audio samples up to a limit.
struct AudioSampleWriter {
    /// What one frame lasts in the audio timescale.
    let frameDuration: Int64
    let limit: Int64
    private let silence: SilentFrame?
    /// What a frame of silence lasts.
    private let silentDuration: Int64
    private let fillsHoles: Bool
    private(set) var nextDecodeTime: Int64
    private(set) var samples: [MuxSample] = []
    private(set) var silentFrames = 0

    init(
        configuration: AudioConfiguration, silence: SilentFrame?, fillsHoles: Bool, next: Int64, limit: Int64
    ) {
        let duration = { (samples: Int) in
            TrackTimescale.audio * Int64(samples) / Int64(configuration.sampleRate)
        }
        frameDuration = duration(configuration.samplesPerFrame)
        silentDuration = duration(silence?.samples ?? configuration.samplesPerFrame)
        self.silence = silence
        self.fillsHoles = fillsHoles
        self.nextDecodeTime = next
        self.limit = limit
    }

    /// Writes a frame behind a hole of `gap`, the whole frames of which are filled with silence; false when the limit
    /// came first.
    mutating func write(_ payload: ArraySlice<UInt8>, after gap: Int64) -> Bool {
        var gap = gap
        while fillsHoles, silence != nil, gap >= silentDuration, nextDecodeTime + silentDuration <= limit {
            appendSilence()
            gap -= silentDuration
        }
        guard nextDecodeTime + gap + frameDuration <= limit else { return false }
        append(payload, lasting: min(frameDuration + gap, Int64(UInt32.max)))
        return true
    }

    mutating func fillWithSilence() {
        guard fillsHoles, silence != nil else { return }
        while nextDecodeTime + silentDuration <= limit { appendSilence() }
    }

    /// A fragment never lacks a track its init section has: one frame, even if it ends past the limit.
    /// - Parameters:
    ///   - payload: the frame that is due here; nil when none is, so that it is silence.
    ///   - last: in a configuration that has no silence, what lasts as long as the fragment.
    /// - Returns: whether it was `payload`.
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
