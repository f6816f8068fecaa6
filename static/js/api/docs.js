// Swagger UI on the schema of this server. Requests that it tries out carry the page's CSRF token.
const place = /** @type {HTMLElement} */ (document.getElementById("swagger-ui"));
const token = /** @type {HTMLInputElement} */ (document.querySelector("#swagger-csrf input")).value;

const chosen = document.documentElement.dataset.theme;
const dark = matchMedia("(prefers-color-scheme: dark)");
const showTheme = () =>
  document.documentElement.classList.toggle("dark-mode", chosen ? chosen === "dark" : dark.matches);
dark.addEventListener("change", showTheme);
showTheme();

SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  deepLinking: true,
  docExpansion: "none",
  defaultModelsExpandDepth: 0,
  /** @param {{url: string, headers: Record<string, string>}} request */
  requestInterceptor: (request) => {
    if (new URL(request.url, location.href).origin === location.origin) request.headers["X-CSRFToken"] = token;
    return request;
  },
});
