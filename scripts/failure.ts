import { errorMessageOf } from '@dispatch/common'
import { DatabaseUnavailable } from '@dispatch/database'

/** The sentence that tells an operator what went wrong. The service's own errors are sentences already. */
export function sentenceOf (error: unknown): string {
  // Of several errors while closing, the first.
  if (error instanceof SuppressedError) return sentenceOf(error.suppressed)
  if (!(error instanceof Error)) return errorMessageOf(error)
  if (error instanceof DatabaseUnavailable && error.why !== undefined) return `The database cannot be used: ${error.why}`
  const sentence = isSystemError(error) && error.syscall === 'listen' ? listening(error) : errorMessageOf(error)
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
}

type SystemError = NodeJS.ErrnoException & { address?: string, port?: number }

function isSystemError (error: Error): error is SystemError {
  return 'syscall' in error
}

function listening ({ code, message, address, port }: SystemError): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} of ${address} is taken: stop the program that has it, or choose another one with PORT (metrics: DISPATCH_METRICS_PORT)`
    case 'EACCES':
      return `Port ${port} of ${address} needs privileges that this user has not: choose one from 1024 on with PORT`
    case 'EADDRNOTAVAIL':
      return `${address} is not an address of this machine: choose another one with HOST`
    default:
      return message
  }
}
