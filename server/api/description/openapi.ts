// Types for the parts of OpenAPI 3.1 that the API description uses.
// https://spec.openapis.org/oas/v3.1.1.html

/** JSON Schema 2020-12; `$ref` points into the components. */
export type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: { readonly [name: string]: Schema }
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly maxItems?: number
  readonly 'x-nightjar-extension'?: true
}

export type Reference = { readonly $ref: string }

export type Parameter = {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description: string
  readonly schema: Schema
  readonly example?: unknown
  readonly 'x-nightjar-extension'?: true
}

export type Example = { readonly summary?: string; readonly value: unknown }

export type MediaType = {
  readonly schema: Schema
  readonly example?: unknown
  readonly examples?: { readonly [name: string]: Example }
}

export type Header = { readonly description: string; readonly required?: boolean; readonly schema: Schema }

export type Response = {
  readonly description: string
  readonly headers?: { readonly [name: string]: Header | Reference }
  readonly content?: { readonly [mediaType: string]: MediaType }
}

export type RequestBody = {
  readonly description?: string
  readonly required: boolean
  readonly content: { readonly [mediaType: string]: MediaType }
}

/** One way to authenticate: a scheme and its required scopes. An empty object means that no credentials are needed. */
export type SecurityRequirement = { readonly [scheme: string]: readonly string[] }

export type Operation = {
  readonly operationId: string
  readonly tags: readonly [string]
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: RequestBody
  readonly responses: { readonly [status: string]: Response | Reference }
  readonly security: readonly SecurityRequirement[]
  readonly 'x-nightjar-extension'?: true
}

export type Method = 'get' | 'post' | 'put' | 'delete'

export type PathItem = { readonly [M in Method]?: Operation }

export type SecurityScheme = { readonly type: string; readonly description: string; readonly [field: string]: unknown }

export type OpenApiDocument = {
  readonly openapi: '3.1.1'
  readonly info: {
    readonly title: string
    readonly version: string
    readonly summary: string
    readonly description: string
    readonly license: { readonly name: string; readonly identifier: string }
  }
  readonly servers: readonly { readonly url: string; readonly description?: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: { readonly [path: string]: PathItem }
  readonly components: {
    readonly schemas: { readonly [name: string]: Schema }
    readonly responses: { readonly [name: string]: Response }
    readonly headers: { readonly [name: string]: Header }
    readonly securitySchemes: { readonly [name: string]: SecurityScheme }
  }
}

export const notModified: Response = {
  description: 'Not modified since the response with the `ETag` in `If-None-Match`.',
}
