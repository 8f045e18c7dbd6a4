// Light or dark: as the system says, until the reader says otherwise.

export function startTheme() {
  const button = document.getElementById("theme");
  const preferred = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const dark = () => (root.dataset.theme ?? (preferred.matches ? "dark" : "light")) === "dark";
  const name = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.title = `Switch to ${dark() ? "light" : "dark"} colours`;
  };
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    name();
  });
  preferred.addEventListener("change", name);
  name();
}
