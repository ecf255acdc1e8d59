/// The kinds of tracks that a demuxer emits: a rendition with companion audio emits only video.
package enum TrackSelection: Hashable, Sendable { case video, audio, both }
