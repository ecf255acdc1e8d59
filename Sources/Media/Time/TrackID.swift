/// Track identifiers, constant for the life of a channel for the same reason.
package enum TrackID {
    package static let video: UInt32 = 1
    package static let audio: UInt32 = 2
}
