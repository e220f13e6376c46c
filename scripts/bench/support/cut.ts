import { constants } from 'node:os'

/**
 * Runs `undo` before the process ends through an error or a signal.
 * @returns a function that cancels this, for the normal end.
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
