/** The facts of an account by their names. */
export type Facts = Readonly<Record<string, string>>

/** The access tokens of one sign-in. */
export type Tokens = {
  /** The access token, renewed where it has expired. `cached`: it was there before. Throws a RequestFailure. */
  token: () => Promise<{ value: string, cached: boolean }>
  /** The vendor has refused this token: the next call of `token` renews it. */
  drop: (value: string) => Promise<void>
}

/** The sign-in of a configuration that a person has connected with the vendor's account. */
export type Connection = Tokens & {
  /** What the vendor has said of the account. */
  facts: Facts
}
