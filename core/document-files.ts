import { DispatchError } from '@dispatch/contract'
import { FileDamaged, type FileStore, StorageUnavailable } from '@dispatch/files'

/** A store of documents: its failures are errors of the API, `document_damaged` and `service_unavailable`. */
export function documentFiles (files: FileStore): FileStore {
  return {
    ready: () => files.ready(),
    read: (key) => files.read(key).catch(refuse),
    put: (key, bytes) => files.put(key, bytes).catch(refuse),
    receive: (key, bytes) => files.receive(key, bytes).catch(refuse),
    stream: (file) => files.stream(file).catch(refuse),
    check: (file) => files.check(file).catch(refuse),
    remove: (key) => files.remove(key).catch(refuse),
    list: (folder) => files.list(folder).catch(refuse),
    listBelow: (folder) => files.listBelow(folder).catch(refuse),
    removeBelow: (folder) => files.removeBelow(folder).catch(refuse)
  }
}

function refuse (error: unknown): never {
  if (error instanceof FileDamaged) {
    const id = error.key.slice(error.key.lastIndexOf('/') + 1)
    throw new DispatchError('document_damaged',
      `The document ${id} is not what was stored: ${error.what}. Nothing of it is sent; it is to be restored from a backup, or made by a ` +
        'new request.', { cause: error })
  }
  if (!(error instanceof StorageUnavailable)) throw error
  throw new DispatchError('service_unavailable', error.state === 'full'
    ? 'The storage of documents takes nothing now; nothing was sent. Try again in a moment.'
    : 'The storage of documents cannot be used now.', { cause: error })
}
