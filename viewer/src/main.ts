document.getElementById("app")!.textContent = "Sinew";
