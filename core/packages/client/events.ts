/** A server-sent event with its data. `id`: what a client names in `Last-Event-ID` to go on behind it, where there is one. */
export type ServerEvent<Data = unknown> = { event: string, data: Data, id?: string }

/** The events of an answer as they come (HTML, 9.2). The last one, `end`, is not told. `marked`: told of an id without an event. */
export async function* eventsOf (answer: Response, marked?: (id: string) => void): AsyncGenerator<ServerEvent, undefined> {
  let event = 'message'
  let id: string | undefined
  let data: string[] = []
  for await (const line of linesOf(answer)) {
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'event') event = value
    else if (field === 'data') data.push(value)
    else if (field === 'id') id = value
    else if (line === '') {
      if (event === 'end') return
      if (data.length > 0) yield { event, data: JSON.parse(data.join('\n')) as unknown, ...id === undefined ? {} : { id } }
      else if (id !== undefined) marked?.(id)
      event = 'message'
      id = undefined
      data = []
    }
  }
}

async function* linesOf ({ body }: Response): AsyncGenerator<string, undefined> {
  if (body === null) return
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      text += decoder.decode(value, { stream: !done })
      const lines = text.split(/\r?\n/)
      text = lines.pop() ?? ''
      yield* lines
      if (done) return
    }
  } finally {
    // Whoever leaves the loop lets go of the connection.
    await reader.cancel().catch(() => undefined)
  }
}
