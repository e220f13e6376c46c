/**
 * The outline of a new provider of a service. `capabilities` are lines of its definition; `path` is a placeholder for the vendor's path;
 * `request` is the dispatch of the fixture; `filled` is the code that makes `sends`, the `body`, from it. `setting` is a required setting
 * of the service: its name, its constructor and a value.
 */
export type Outline = {
  capabilities: readonly string[]
  setting?: { name: string, by: string, value: readonly string[] }
  path: string
  body: 'json' | 'multipart'
  request: object
  filled: string
  sends: object
  /** The vendor's words for the status, and an event. */
  events?: Readonly<Record<string, string>>
}
