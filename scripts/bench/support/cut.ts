import { constants } from 'node:os'

/**
 * Has `undo` run, before the process ends, where it is cut off: by an error or by a signal.
 * @returns what calls that off, once everything was undone in the ordinary way.
 */
export function whenCut (undo: () => void): () => void {
  const end = (signal: 'SIGINT' | 'SIGTERM') => {
    process.exit(128 + constants.signals[signal])
  }
  process.once('exit', undo).once('SIGINT', end).once('SIGTERM', end)
  return () => {
    process.off('exit', undo).off('SIGINT', end).off('SIGTERM', end)
  }
}
