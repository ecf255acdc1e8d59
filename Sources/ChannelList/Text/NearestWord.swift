import Support

/// The word that somebody who wrote another one probably meant.
package enum NearestWord {
    /// The word that differs least from `word`, if that is two fifths of its letters at most.
    package static func of(_ word: String, among words: [String]) -> String? {
        let word = word.lowercased()
        // A longer word is no typing error, and comparing it would take long.
        guard word.count <= longest else { return nil }
        let distances = words.map { (word: $0, distance: editDistance($0, word)) }
        let nearest = distances.min { $0.distance < $1.distance }
        return nearest.flatMap { $0.distance * 5 <= 2 * max($0.word.count, word.count) ? $0.word : nil }
    }

    private static let longest = 64

    /// The number of letters to insert, remove or replace (Levenshtein).
    private static func editDistance(_ left: String, _ right: String) -> Int {
        let right = Array(right)
        StepCounter.add(left.count * right.count)
        var row = Array(0...right.count)
        for (line, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for column in right.indices {
                let replaced = diagonal + (letter == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[right.count]
    }
}
