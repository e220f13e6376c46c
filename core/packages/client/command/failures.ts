import { type CallError, isCallError } from '../errors.ts'

/** The words or options of the command line are wrong. */
export class UsageError extends Error {}

/** What is told of an error, to people or to programs, and the exit code. */
export function failure (error: unknown, isJson: boolean): { text: string, code: number } {
  if (isCallError(error)) return { text: isJson ? JSON.stringify(factsOf(error), null, 2) : reported(error), code: codeOf(error) }
  const message = sentenceOf(error)
  const isWrong = error instanceof UsageError || /^(ERR_PARSE_ARGS|E[A-Z]+$)/.test((error as NodeJS.ErrnoException).code ?? '')
  return { text: isJson ? JSON.stringify({ error: 'usage', message }, null, 2) : message, code: isWrong ? 2 : 1 }
}

/** What is wrong with a file that a run was told of, by the word of the system. */
const faultsOfFiles: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a folder',
  EEXIST: 'is a file, and a folder is needed',
  ENOTDIR: 'lies in a file, and a folder is needed',
  EACCES: 'is not open to you'
}

function sentenceOf (error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code = '', path, message } = error as NodeJS.ErrnoException
  // The rest tells programs how to take such a word as a file.
  if (code.startsWith('ERR_PARSE_ARGS')) return `${message.split('. ')[0] ?? message}. "dispatch --help" has all options.`
  const fault = faultsOfFiles[code]
  // The name of a folder is not there where its bytes were asked for.
  return fault === undefined ? message : `${path === undefined ? 'What stands for a file' : `"${path}"`} ${fault}.`
}

/** What went wrong, where, what to do, and the id by which the service's operators find it. */
function reported ({ error, message, problems, requestId, dispatchId, idempotencyKey, outcomeUnknown, docs }: CallError): string {
  return [
    // What the client calls so, a person has written there.
    message.replaceAll('"baseUrl"', '--url'),
    ...problems.slice(1).map(({ path, message: sentence }) => `  ${path}: ${sentence}`),
    ...error === 'unauthorized' ? ['"dispatch login" stores a key.'] : [],
    ...dispatchId === undefined ? [] : [`The dispatch: ${dispatchId}`],
    ...outcomeUnknown && idempotencyKey !== undefined ? [`Repeat it only with --key ${idempotencyKey}: so it is sent once.`] : [],
    ...requestId === undefined ? [] : [`The request: ${requestId}`],
    ...docs === undefined ? [] : [`What it means: ${docs}`]
  ].join('\n')
}

/** An error for programs. */
function factsOf ({
  error,
  reason,
  message,
  httpStatus,
  requestId,
  dispatchId,
  idempotencyKey,
  retryAfter,
  surelyNotSent,
  outcomeUnknown,
  problems,
  docs
}: CallError): object {
  return {
    error,
    reason,
    message,
    httpStatus,
    requestId,
    dispatchId,
    idempotencyKey,
    retryAfter,
    surelyNotSent,
    outcomeUnknown,
    details: problems,
    docs
  }
}

const noAccess: ReadonlySet<string> = new Set(['unauthorized', 'forbidden', 'fresh_proof_required', 'https_required', 'access_denied',
  'expired_token'])

function codeOf ({ error, outcomeUnknown }: CallError): number {
  if (noAccess.has(error)) return 5
  if (error === 'rate_limited' || error === 'service_unavailable' || error === 'provider_unavailable' || error === 'unreachable') return 4
  return outcomeUnknown ? 3 : 1
}
