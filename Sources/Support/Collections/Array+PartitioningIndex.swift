extension Range<Int> {
    /// Returns the first number from which all numbers of the range satisfy the predicate; the end of the range if none
    /// does.
    ///
    /// The numbers that satisfy the predicate must follow all others.
    @inlinable
    package func partitioningIndex(where belongsToSecondPartition: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            if belongsToSecondPartition(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension Array {
    /// Returns the first index from which every element satisfies the predicate; the count if no element does.
    @inlinable
    package func partitioningIndex(where belongsToSecondPartition: (Element) -> Bool) -> Int {
        indices.partitioningIndex {
            StepCounter.add(1)
            return belongsToSecondPartition(self[$0])
        }
    }
}
