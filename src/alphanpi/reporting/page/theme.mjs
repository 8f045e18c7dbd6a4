// Light or dark: as the system says, until the reader says otherwise.

// What a reader chose before; a page opened from disk may not be allowed to remember.
export function remembered(name) {
  try {
    return localStorage.getItem(`alphanpi-${name}`);
  } catch {
    return null;
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(`alphanpi-${name}`, value);
  } catch {
    // It holds for this visit.
  }
}

export function startTheme() {
  const choice = document.getElementById("theme");
  const apply = () => {
    if (choice.value === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice.value;
  };
  const before = remembered("theme");
  if (["light", "dark"].includes(before)) choice.value = before;
  choice.addEventListener("change", () => {
    remember("theme", choice.value);
    apply();
  });
  apply();
}
