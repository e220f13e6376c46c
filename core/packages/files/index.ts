/** `@dispatch/files`: files that survive a power failure, in a folder or a bucket, and are checked before anybody reads them. */

// A store of files.
export { createLocalFiles, draftEnding, type FileStore, type StoredFile } from './files.ts'
export { type Bucket, createS3Files } from './s3.ts'
export { DataKeyMissing, FileDamaged, StorageUnavailable } from './errors.ts'
export { type FileKeys, isSealed } from './sealing.ts'

// What is sealed under a data key.
export { type DataKey, DerivedKeys, headLength, keyIdOf, tagLength } from './derived-keys.ts'

// Files of a process itself: each is complete or not there.
export { isMissing, makeFolder, readIfThere, syncFolder, writeAtomically } from './files.ts'
export { type AtomicFiles, type DrainResult, openAtomicFiles, type SpoolCounts } from './atomic.ts'
