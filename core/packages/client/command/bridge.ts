import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { eventsOf } from '../events.ts'

type Message = { id?: string | number, method?: string, params?: Record<string, unknown> }

/** Under this name the messages of newer versions of the protocol say theirs. */
const versionIn = 'io.modelcontextprotocol/protocolVersion'

/**
 * Speaks the Model Context Protocol over standard input and output, for an assistant on this machine: each message goes to `/mcp` of the
 * service, with the key, and what comes back is written as it is. Nothing is sent twice. Ends with the input.
 */
export async function bridge ({ url, key }: { url: string, key: string }, { input, output }: { input: Readable, output: Writable }) {
  let agreed: string | undefined
  const write = (message: unknown): void => {
    output.write(`${JSON.stringify(message)}\n`)
    const version = (message as { result?: { protocolVersion?: unknown } }).result?.protocolVersion
    if (typeof version === 'string') agreed = version
  }
  async function pass (line: string): Promise<void> {
    const message = parsed(line)
    if (message === undefined) {
      write(failure(null, -32700, 'A message is one line of JSON.'))
      return
    }
    try {
      const answer = await fetch(`${url.replace(/\/+$/, '')}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headersOf(message, agreed)
        },
        body: line
      })
      const type = answer.headers.get('content-type') ?? ''
      if (type.startsWith('text/event-stream')) { for await (const { data } of eventsOf(answer)) write(data) }
      else {
        const body = await answer.text()
        const reported = parsed(body) as { jsonrpc?: unknown, message?: unknown } | undefined
        if (reported?.jsonrpc !== undefined) write(reported)
        else if (answer.status >= 400 || body !== '') throw new Error(sentenceOf(url, answer.status, reported?.message))
      }
    } catch (error) {
      const { message: text, cause } = error as Error
      const why = cause instanceof Error
        ? `${url} did not answer (${cause.message || text}). Look whether it was done before you repeat it.`
        : text
      if (message.id !== undefined) write(failure(message.id, -32000, why))
    }
  }
  const under = new Set<Promise<void>>()
  for await (const line of createInterface(input)) {
    if (line.trim() === '') continue
    const passing = pass(line).finally(() => under.delete(passing))
    under.add(passing)
    // The version that is agreed on goes with all that follows.
    if (line.includes('"initialize"')) await passing
  }
  await Promise.all(under)
}

function sentenceOf (url: string, status: number, message: unknown): string {
  return typeof message === 'string' ? message : `${url} answered ${String(status)}, and nothing of the protocol: is it a service?`
}

/** The headers that the protocol adds to a message. */
function headersOf ({ method, params }: Message, agreed: string | undefined): Record<string, string> {
  const own = (params?.['_meta'] as Record<string, unknown> | undefined)?.[versionIn]
  const version = typeof own === 'string' ? own : agreed
  const name = params?.['name'] ?? params?.['uri']
  return {
    ...version === undefined ? {} : { 'mcp-protocol-version': version },
    ...typeof own === 'string' && method !== undefined ? { 'mcp-method': method } : {},
    ...typeof own === 'string' && typeof name === 'string' ? { 'mcp-name': name } : {}
  }
}

function failure (id: string | number | null, code: number, message: string): object {
  return { jsonrpc: '2.0', id, error: { code, message } }
}

function parsed (text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    // Not JSON: who asks says so.
    return undefined
  }
}
