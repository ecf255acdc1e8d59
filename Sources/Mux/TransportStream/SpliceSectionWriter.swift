package import Media

/// Writes splice_info_sections on the channel's timeline (SCTE 35 §9.6).
package enum SpliceSectionWriter {
    /// The section with its splice time moved to `time`: only pts_adjustment and CRC_32 change.
    ///
    /// An immediate splice_insert gets the time, because the section is sent before its frames. Any other command
    /// without a time stays unchanged, and so does an encrypted command.
    /// - Throws: `.badSection` if the bytes are not a splice_info_section.
    package static func section(_ bytes: [UInt8], at time: Ticks) throws(MediaError) -> [UInt8] {
        let section = try SpliceInfoSection(bytes)
        guard let spliceTime = section.spliceTime else {
            guard case .insert(let insert) = section.command, !insert.isCanceled, section.segmentations.isEmpty else {
                return bytes
            }
            return spliceInsert(
                eventID: insert.eventID, isOut: insert.isOutOfNetwork, at: time, duration: insert.duration?.duration,
                autoReturn: insert.duration?.autoReturn ?? true)
        }
        return section.moved(by: time - spliceTime).bytes
    }

    /// A section with a splice_insert (§9.7.3), for an ad marker without a section.
    /// - Parameters:
    ///   - isOut: whether an ad break begins at `time`; otherwise it ends.
    ///   - duration: of the break; nil if unknown.
    ///   - autoReturn: whether the break ends by itself after `duration`.
    package static func spliceInsert(
        eventID: UInt32, isOut: Bool, at time: Ticks, duration: Ticks?, autoReturn: Bool = true
    ) -> [UInt8] {
        var command = BitWriter()
        command.append(Int(eventID), bits: 32)
        command.append(0x7F, bits: 8)  // not canceled
        command.append(isOut ? 1 : 0, bits: 1)
        command.append(1, bits: 1)  // program_splice_flag
        command.append(duration == nil ? 0 : 1, bits: 1)
        command.append(0, bits: 1)  // splice_immediate_flag
        command.append(0xF, bits: 4)
        command.append(0x7F, bits: 7)  // time_specified_flag, reserved
        command.append(Int(time.wire.count), bits: 33)
        if let duration {
            command.append(autoReturn ? 1 : 0, bits: 1)
            command.append(0x3F, bits: 6)
            command.append(Int(duration.wire.count), bits: 33)
        }
        command.append(0, bits: 32)  // unique_program_id, avail_num, avails_expected
        return section(commandType: 0x05, command.bytes)
    }

    /// A section with a splice_null (§9.7.1), which receivers take for a heartbeat.
    static let null = section(commandType: 0x00, [])

    private static func section(commandType: UInt8, _ command: [UInt8]) -> [UInt8] {
        var bits = BitWriter()
        bits.append(Int(SpliceInfoSection.tableID), bits: 8)
        // protocol_version to splice_command_type are 11 bytes; descriptor_loop_length and CRC_32 follow the command.
        bits.append(0x3000 | 11 + command.count + 2 + 4, bits: 16)
        bits.append(0, bits: 8 + 7)  // protocol_version, encrypted_packet, encryption_algorithm
        bits.append(0, bits: 33)  // pts_adjustment
        bits.append(0, bits: 8)  // cw_index
        bits.append(0xFFF, bits: 12)  // tier
        bits.append(command.count, bits: 12)
        bits.append(Int(commandType), bits: 8)
        let section = bits.bytes + command + [0, 0]
        return section + SectionCRC.bytes(of: section)
    }
}
