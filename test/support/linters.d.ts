/** What the tests use of the linters of OpenAPI documents: types are checked where those are not installed, too. */

declare module '@redocly/openapi-core' {
  export function createConfig (config: { extends: string[] }): Promise<unknown>
  export function lintFromString (options: { source: string, absoluteRef: string, config: unknown }): Promise<
    { severity: 'error' | 'warn', ruleId: string, message: string, location: { pointer?: string }[] }[]
  >
}

declare module '@stoplight/spectral-core' {
  type Spectral = {
    setRuleset(ruleset: { extends: unknown[], rules: Record<string, 'off'> }): void
    /** `severity`: 0 is an error, 1 a warning. */
    run(document: unknown): Promise<{ severity: number, code: string, message: string, path: (string | number)[] }[]>
  }
  const core: { Spectral: new() => Spectral }
  export default core
}

declare module '@stoplight/spectral-rulesets' {
  const rulesets: { oas: unknown }
  export default rulesets
}
