// The OpenAPI document as people read it: each call with the shapes that it takes and gives.

export interface Schema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
  items?: Schema | boolean;
}

interface Part {
  content: { "application/json": { schema: Schema } };
}

interface Operation {
  summary: string;
  requestBody?: Part;
  responses: Record<string, Part>;
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** A call of the page: what it is for, what goes in and comes out, and the statuses of its refusals. */
export interface Call {
  title: string;
  summary: string;
  shapes: { title: string; shape: string }[];
  refused: string[];
}

/** Names and types, with references followed. */
type Shape = string | string[] | Shape[] | { [name: string]: Shape };

export function callsOf(api: OpenApi): Call[] {
  return Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => callOf(`${method.toUpperCase()} ${path}`, operation, api)),
  );
}

function callOf(title: string, operation: Operation, api: OpenApi): Call {
  const parts: [string, Part][] = operation.requestBody ? [["takes", operation.requestBody]] : [];
  const statuses = Object.keys(operation.responses).sort();
  for (const status of statuses) if (status < "400") parts.push([`gives ${status}`, operation.responses[status]!]);
  const shapes = parts.map(([title, part]) => {
    const shape = resolved(part.content["application/json"].schema, api);
    return { title, shape: JSON.stringify(shape, null, 1) };
  });
  return { title, summary: operation.summary, shapes, refused: statuses.filter((status) => status >= "400") };
}

/** A schema as one reads it. What stands within itself is named there; *around* are the names that it stands in. */
export function resolved(schema: Schema, api: OpenApi, around: readonly string[] = []): Shape {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
    return around.includes(name) ? name : resolved(api.components.schemas[name] ?? {}, api, [...around, name]);
  }
  if (schema.properties) {
    const inner = Object.entries(schema.properties).map(([name, one]) => [name, resolved(one, api, around)] as const);
    return Object.fromEntries(inner);
  }
  if (schema.anyOf) return schema.anyOf.map((one) => inOneLine(resolved(one, api, around))).join(" or ");
  if (typeof schema.items === "object") return [resolved(schema.items, api, around)];
  return schema.type ?? "anything";
}

function inOneLine(shape: Shape): string {
  if (typeof shape === "string") return shape;
  const lines = JSON.stringify(shape, null, 1);
  return lines.replace(/([[{])\n\s*/g, "$1").replace(/\n\s*([\]}])/g, "$1").replace(/\n\s*/g, " ");
}
