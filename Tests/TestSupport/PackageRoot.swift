package import Foundation

/// The directory of Package.swift, found from the path of this source file.
package enum PackageRoot {
    package static let url = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
